"""Code of a project folder, found by what it says, what it is called, and what it means.

``CodeRetriever`` keeps an index of a folder and answers questions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.code.definitions import Symbol, SymbolKind
    from dcf.code.errors import (
        CodeProblem,
        IndexTrouble,
        InvalidSearch,
        RipgrepFailed,
        RipgrepMissing,
        RootMissing,
        TooManyFiles,
        UnshownFile,
    )
    from dcf.code.excerpt import Excerpt, excerpt_of, searched
    from dcf.code.files import listed
    from dcf.code.hit import CodeHit
    from dcf.code.index_file import remove_index, texts_in
    from dcf.code.language import LANGUAGES
    from dcf.code.piece import CodePiece, cut
    from dcf.code.retriever import CodeRetriever
    from dcf.code.syncing import Synced
else:
    export_late(__name__)

__all__ = [
    "LANGUAGES",
    "CodeHit",
    "CodePiece",
    "CodeProblem",
    "CodeRetriever",
    "Excerpt",
    "IndexTrouble",
    "InvalidSearch",
    "RipgrepFailed",
    "RipgrepMissing",
    "RootMissing",
    "Symbol",
    "SymbolKind",
    "Synced",
    "TooManyFiles",
    "UnshownFile",
    "cut",
    "excerpt_of",
    "listed",
    "remove_index",
    "searched",
    "texts_in",
]
