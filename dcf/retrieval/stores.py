"""Logged items and documents, where a setting keeps them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from dcf.memory import Actor, Clock, Memory, NewId
from dcf.retrieval.backend import Items, ProjectDocuments
from dcf.retrieval.file_documents import FileDocuments
from dcf.retrieval.file_items import FileItems
from dcf.retrieval.item import Lifetimes
from dcf.retrieval.postgres_documents import PostgresDocuments
from dcf.retrieval.postgres_items import PostgresItems
from dcf.retrieval.postgres_store import PostgresStore
from dcf.retrieval.settings import BackendSetting
from dcf.retrieval.sqlite_backend import SqliteDocuments, SqliteItems
from dcf.retrieval.volatile_backend import VolatileDocuments, VolatileItems
from dcf.search import Embedder


@dataclass(frozen=True, slots=True)
class Stores:
    """What is logged and read, in one place."""

    items: Items
    documents: ProjectDocuments

    @classmethod
    def of_memory(cls, memory: Memory, by: Actor, lifetimes: Lifetimes | None = None) -> Stores:
        """The backend sqlite; ``by`` is who changes ``memory``, for its record."""
        return cls(SqliteItems(memory, by, lifetimes), SqliteDocuments(memory))

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        setting: BackendSetting,
        folder: Path,
        clock: Clock,
        new_id: NewId,
        lifetimes: Lifetimes | None = None,
        embedder: Embedder | None = None,
    ) -> AsyncIterator[Stores]:
        """Any other one; ``folder`` is that of the backend file where ``setting`` names none.
        Raises a StoreProblem."""
        if setting.backend == "memory":
            yield cls(VolatileItems(clock, new_id, lifetimes), VolatileDocuments(clock, new_id))
        elif setting.backend == "file":
            where = setting.path or folder
            yield cls(
                FileItems(where, clock, new_id, lifetimes), FileDocuments(where, clock, new_id)
            )
        else:
            vectors = embedder is not None
            async with PostgresStore.open(setting.database, vectors=vectors) as store:
                yield cls(
                    PostgresItems(store, clock, new_id, lifetimes, embedder),
                    PostgresDocuments(store, clock, new_id, embedder),
                )
