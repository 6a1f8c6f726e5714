"""Retrieval: what was logged about a project, its code and its documents, found together.

``Retrieval`` logs and answers; ``MemoryItems`` keeps items in the memory, ``FileItems`` in a
folder, ``PostgresItems`` in a database of a server, ``VolatileItems`` in the process;
``dcf.retrieval.serving`` is the same over HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.retrieval.bundle import SHARES, Bundle, Part, Share, bundled
    from dcf.retrieval.candidate import KINDS, Candidate, Kind, Scored
    from dcf.retrieval.errors import (
        AnswerersFailed,
        BadProjectTokens,
        DriverMissing,
        FolderUnusable,
        InvalidItem,
        InvalidQuestion,
        RetrievalProblem,
        RootNotServed,
        RootRequired,
        StoreProblem,
        StoreTooNew,
        StoreUnreachable,
        UnknownItem,
    )
    from dcf.retrieval.file_items import FileItems
    from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
    from dcf.retrieval.items import Items
    from dcf.retrieval.memory_items import MemoryItems
    from dcf.retrieval.postgres_items import PostgresItems
    from dcf.retrieval.postgres_store import fault_of_url
    from dcf.retrieval.projects import Projects, projects_of
    from dcf.retrieval.question import MODES, ContextQuestion, Mode, limit_of
    from dcf.retrieval.retrieval import Answered, Retrieval
    from dcf.retrieval.shelves import CodeShelf, DocumentHit, DocumentShelf, ObservationShelf
    from dcf.retrieval.volatile_items import VolatileItems
else:
    export_late(__name__)

__all__ = [
    "KINDS",
    "MODES",
    "SHARES",
    "Answered",
    "AnswerersFailed",
    "BadProjectTokens",
    "Bundle",
    "Candidate",
    "CodeShelf",
    "ContextQuestion",
    "DocumentHit",
    "DocumentShelf",
    "DriverMissing",
    "FileItems",
    "FolderUnusable",
    "InvalidItem",
    "InvalidQuestion",
    "Item",
    "Items",
    "Kind",
    "Lifetimes",
    "MemoryItems",
    "Mode",
    "NewItem",
    "ObservationShelf",
    "Part",
    "PostgresItems",
    "Projects",
    "Recalled",
    "Retrieval",
    "RetrievalProblem",
    "RootNotServed",
    "RootRequired",
    "Scored",
    "Share",
    "StoreProblem",
    "StoreTooNew",
    "StoreUnreachable",
    "UnknownItem",
    "VolatileItems",
    "bundled",
    "fault_of_url",
    "limit_of",
    "projects_of",
]
