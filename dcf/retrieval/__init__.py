"""Retrieval: what was logged about a project, its code, its documents, observations, threads and
playbooks, and facts of its runs, found together.

``Retrieval`` logs and answers; ``SqliteItems`` and ``SqliteDocuments`` keep items and documents in
the memory, ``FileItems`` and ``FileDocuments`` in a folder, ``PostgresItems`` and
``PostgresDocuments`` in a database of a server, ``VolatileItems`` and ``VolatileDocuments`` in the
process; ``migrate`` copies items and documents from one to another; ``dcf.retrieval.serving`` is
the same over HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.retrieval.audit_log import (
        DAYS,
        EVERY_PROJECT,
        NOBODY,
        OPERATIONS,
        Access,
        AuditLog,
        Caller,
    )
    from dcf.retrieval.backend import (
        DocumentHit,
        Items,
        Kept,
        LastingItems,
        ProjectDocuments,
        projects_in,
    )
    from dcf.retrieval.bundle import SHARES, Bundle, Part, Share, bundled
    from dcf.retrieval.candidate import KINDS, NOT_PERMITTED, Candidate, Kind, Scored
    from dcf.retrieval.cut import with_costs
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
    from dcf.retrieval.file_documents import FileDocuments
    from dcf.retrieval.file_items import FileItems
    from dcf.retrieval.freshness import Freshness
    from dcf.retrieval.item import Item, Lifetimes, NewItem, Recalled
    from dcf.retrieval.maintenance import Maintained, Night, maintain
    from dcf.retrieval.migration import Migrated, MigratedDocuments, migrate, migrate_documents
    from dcf.retrieval.postgres_documents import PostgresDocuments
    from dcf.retrieval.postgres_items import PostgresItems
    from dcf.retrieval.postgres_store import PostgresStore, fault_of_url, where_of_url
    from dcf.retrieval.projects import Projects, projects_of
    from dcf.retrieval.question import MODES, ContextQuestion, Mode, limit_of
    from dcf.retrieval.reranker import Reranker, reranked
    from dcf.retrieval.retrieval import Answered, Retrieval
    from dcf.retrieval.retrievers import (
        CodeRetrievers,
        FactHit,
        FactRetriever,
        ObservationRetriever,
        PlaybookRetriever,
        ThreadRetriever,
    )
    from dcf.retrieval.settings import (
        Backend,
        BackendSetting,
        RerankerSetting,
        lifetimes_of,
        shares_of,
    )
    from dcf.retrieval.sqlite_backend import SqliteDocuments, SqliteItems, logged_among
    from dcf.retrieval.stores import Stores
    from dcf.retrieval.volatile_backend import VolatileDocuments, VolatileItems
    from dcf.retrieval.word_table import WordTable
else:
    export_late(__name__)

__all__ = [
    "DAYS",
    "EVERY_PROJECT",
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
    "Backend",
    "BackendSetting",
    "BadProjectTokens",
    "Bundle",
    "Caller",
    "Candidate",
    "CodeRetrievers",
    "ContextQuestion",
    "DocumentHit",
    "DriverMissing",
    "FactHit",
    "FactRetriever",
    "FactsAway",
    "FileDocuments",
    "FileItems",
    "FolderUnusable",
    "Freshness",
    "InvalidItem",
    "InvalidQuestion",
    "Item",
    "Items",
    "Kept",
    "Kind",
    "LastingItems",
    "Lifetimes",
    "Maintained",
    "Migrated",
    "MigratedDocuments",
    "Mode",
    "NewItem",
    "Night",
    "ObservationRetriever",
    "Part",
    "PlaybookRetriever",
    "PostgresDocuments",
    "PostgresItems",
    "PostgresStore",
    "ProjectDocuments",
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
    "SqliteDocuments",
    "SqliteItems",
    "StoreEmpty",
    "StoreProblem",
    "StoreTooNew",
    "StoreUnreachable",
    "Stores",
    "ThreadRetriever",
    "UnknownItem",
    "UnnamedProjects",
    "VolatileDocuments",
    "VolatileItems",
    "WordTable",
    "bundled",
    "fault_of_url",
    "lifetimes_of",
    "limit_of",
    "logged_among",
    "maintain",
    "migrate",
    "migrate_documents",
    "projects_in",
    "projects_of",
    "reranked",
    "shares_of",
    "where_of_url",
    "with_costs",
]
