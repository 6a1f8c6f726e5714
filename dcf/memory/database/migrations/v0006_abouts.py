"""Version 6: an index of the words that texts are about, by themselves."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=6,
    name="words that texts are about",
    up=(
        # In search_words they stand among those of the texts, and whether a word is one of them
        # shows only at the end of all that say it. An index of form 2 has all but these.
        """
        CREATE VIRTUAL TABLE search_abouts USING fts5 (
            about, content = '', columnsize = 0, detail = none,
            tokenize = "porter unicode61 categories 'L* N* M*'"
        )
        """,
        "CREATE VIRTUAL TABLE search_about_terms USING fts5vocab (search_abouts, instance)",
    ),
    down=(
        "DROP TABLE search_about_terms",
        "DROP TABLE search_abouts",
        "UPDATE search_state SET form = min(form, 2)",
    ),
)
