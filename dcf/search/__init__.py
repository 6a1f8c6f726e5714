"""Search over short texts: words and meanings, fused. Knows nothing of what it searches.

``SearchIndex`` keeps documents in a file and ranks them; ``embedder_named`` gives what compares
meanings; ``count_tokens`` says what a text costs a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.search.beginnings import beginnings
    from dcf.search.document import Document, Shape
    from dcf.search.embedder import (
        DEFAULT_EMBEDDER,
        EMBEDDERS,
        STORED,
        Embedder,
        Vectors,
        Weights,
        embedder_named,
        name_of,
        unit,
    )
    from dcf.search.errors import (
        EmbedderMissing,
        EmptyQuery,
        IndexDamaged,
        IndexUnusable,
        SearchError,
        UnknownEmbedder,
    )
    from dcf.search.index import Change, Hit, SearchIndex
    from dcf.search.segments import segmented
    from dcf.search.tokens import count_tokens, counts_of_tokens
    from dcf.search.words import (
        STOP_WORDS,
        TOKENIZER,
        name_parts,
        opening,
        query_words,
        sentences,
        spoken,
        telling_words,
        without,
        words,
    )
else:
    export_late(__name__)

__all__ = [
    "DEFAULT_EMBEDDER",
    "EMBEDDERS",
    "STOP_WORDS",
    "STORED",
    "TOKENIZER",
    "Change",
    "Document",
    "Embedder",
    "EmbedderMissing",
    "EmptyQuery",
    "Hit",
    "IndexDamaged",
    "IndexUnusable",
    "SearchError",
    "SearchIndex",
    "Shape",
    "UnknownEmbedder",
    "Vectors",
    "Weights",
    "beginnings",
    "count_tokens",
    "counts_of_tokens",
    "embedder_named",
    "name_of",
    "name_parts",
    "opening",
    "query_words",
    "segmented",
    "sentences",
    "spoken",
    "telling_words",
    "unit",
    "without",
    "words",
]
