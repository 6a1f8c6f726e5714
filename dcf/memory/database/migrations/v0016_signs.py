"""Version 16: the signs of vectors, by which the nearest are found."""

from __future__ import annotations

from dcf.memory.database.migration import Migration

STEP = Migration(
    version=16,
    name="signs of vectors",
    up=(
        # Derived from search_vectors: an index of form 5 has all but these.
        """
        CREATE TABLE search_signs (
            first INTEGER PRIMARY KEY,
            stamp INTEGER NOT NULL,
            places BLOB NOT NULL,
            bits BLOB NOT NULL
        ) STRICT
        """,
        "CREATE INDEX search_signs_by_stamp ON search_signs (first, stamp)",
    ),
    down=(
        "DROP TABLE search_signs",
        "UPDATE search_state SET form = min(form, 5)",
    ),
)
