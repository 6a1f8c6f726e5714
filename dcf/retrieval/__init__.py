"""Retrieval: what was logged about a project, its code and its documents, found together.

``Retrieval`` logs and answers; ``MemoryItems`` keeps items in the memory, ``PostgresItems`` in a
database of a server, ``VolatileItems`` in the process; ``dcf.retrieval.serving`` is the same over
HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.retrieval.candidate import Candidate, Scored
    from dcf.retrieval.errors import (
        BadProjectTokens,
        DriverMissing,
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
    from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
    from dcf.retrieval.items import Items
    from dcf.retrieval.memory_items import MemoryItems
    from dcf.retrieval.postgres_items import PostgresItems
    from dcf.retrieval.postgres_store import fault_of_url
    from dcf.retrieval.projects import Projects, projects_of
    from dcf.retrieval.question import MODES, ContextQuestion, Mode
    from dcf.retrieval.retrieval import Answered, Retrieval
    from dcf.retrieval.shelves import CodeShelf, DocumentHit, DocumentShelf
    from dcf.retrieval.volatile_items import VolatileItems
else:
    export_late(__name__)

__all__ = [
    "MODES",
    "Answered",
    "BadProjectTokens",
    "Candidate",
    "CodeShelf",
    "ContextQuestion",
    "DocumentHit",
    "DocumentShelf",
    "DriverMissing",
    "InvalidItem",
    "InvalidQuestion",
    "Item",
    "Items",
    "Lifetimes",
    "MemoryItems",
    "Mode",
    "NewItem",
    "PostgresItems",
    "Projects",
    "Recalled",
    "Retrieval",
    "RetrievalProblem",
    "RootNotServed",
    "RootRequired",
    "Scored",
    "StoreProblem",
    "StoreTooNew",
    "StoreUnreachable",
    "UnknownItem",
    "VolatileItems",
    "fault_of_url",
    "projects_of",
]
