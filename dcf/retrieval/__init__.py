"""Retrieval: what was logged about a project, its code and its documents, found together.

``Retrieval`` logs and answers; ``MemoryItems`` keeps items in the memory, ``FileItems`` in a
folder, ``PostgresItems`` in a database of a server, ``VolatileItems`` in the process;
``migrate`` copies them from one to another; ``dcf.retrieval.serving`` is the same over HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.retrieval.audit import NOBODY, OPERATIONS, Access, AuditLog, Caller
    from dcf.retrieval.bundle import SHARES, Bundle, Part, Share, bundled
    from dcf.retrieval.candidate import KINDS, Candidate, Kind, Scored
    from dcf.retrieval.errors import (
        AnswerersFailed,
        BadProjectTokens,
        DriverMissing,
        FactsAway,
        FolderUnusable,
        InvalidItem,
        InvalidQuestion,
        RerankerFailed,
        RetrievalProblem,
        RootNotServed,
        RootRequired,
        StoreEmpty,
        StoreProblem,
        StoreTooNew,
        StoreUnreachable,
        UnknownItem,
        UnnamedProjects,
    )
    from dcf.retrieval.file_items import FileItems
    from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
    from dcf.retrieval.items import Items, Kept, LastingItems, projects_in
    from dcf.retrieval.maintenance import Maintained, Night, maintain
    from dcf.retrieval.memory_items import MemoryItems
    from dcf.retrieval.migration import Migrated, migrate
    from dcf.retrieval.permitted import NOT_PERMITTED
    from dcf.retrieval.postgres_items import PostgresItems
    from dcf.retrieval.postgres_store import fault_of_url, where_of_url
    from dcf.retrieval.projects import Projects, projects_of
    from dcf.retrieval.question import MODES, ContextQuestion, Mode, limit_of
    from dcf.retrieval.reranker import Reranker, reranked
    from dcf.retrieval.reranker_setting import RerankerSetting
    from dcf.retrieval.retrieval import Answered, Retrieval
    from dcf.retrieval.shares_setting import shares_of
    from dcf.retrieval.shelves import (
        CodeShelf,
        DocumentHit,
        DocumentShelf,
        FactHit,
        FactShelf,
        ObservationShelf,
        PlaybookShelf,
    )
    from dcf.retrieval.volatile_items import VolatileItems
    from dcf.retrieval.word_table import WordTable
else:
    export_late(__name__)

__all__ = [
    "KINDS",
    "MODES",
    "NOBODY",
    "NOT_PERMITTED",
    "OPERATIONS",
    "SHARES",
    "Access",
    "Answered",
    "AnswerersFailed",
    "AuditLog",
    "BadProjectTokens",
    "Bundle",
    "Caller",
    "Candidate",
    "CodeShelf",
    "ContextQuestion",
    "DocumentHit",
    "DocumentShelf",
    "DriverMissing",
    "FactHit",
    "FactShelf",
    "FactsAway",
    "FileItems",
    "FolderUnusable",
    "InvalidItem",
    "InvalidQuestion",
    "Item",
    "Items",
    "Kept",
    "Kind",
    "LastingItems",
    "Lifetimes",
    "Maintained",
    "MemoryItems",
    "Migrated",
    "Mode",
    "NewItem",
    "Night",
    "ObservationShelf",
    "Part",
    "PlaybookShelf",
    "PostgresItems",
    "Projects",
    "Recalled",
    "Reranker",
    "RerankerFailed",
    "RerankerSetting",
    "Retrieval",
    "RetrievalProblem",
    "RootNotServed",
    "RootRequired",
    "Scored",
    "Share",
    "StoreEmpty",
    "StoreProblem",
    "StoreTooNew",
    "StoreUnreachable",
    "UnknownItem",
    "UnnamedProjects",
    "VolatileItems",
    "WordTable",
    "bundled",
    "fault_of_url",
    "limit_of",
    "maintain",
    "migrate",
    "projects_in",
    "projects_of",
    "reranked",
    "shares_of",
    "where_of_url",
]
