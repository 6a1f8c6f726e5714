"""Memory, code and documents of the projects of a setting, where they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from dcf.cli.memory.opening import now_ms, opened, person, source_in
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.cli.trouble import BadInput, NotSo
from dcf.knowledge import GraphFacts
from dcf.memory import Actor, Memory, project_of_runs, random_id
from dcf.retrieval import (
    AuditLog,
    BackendSetting,
    Caller,
    CodeRetrievers,
    FileDocuments,
    FileItems,
    Items,
    LastingItems,
    Lifetimes,
    ObservationRetriever,
    PlaybookRetriever,
    PostgresDocuments,
    PostgresItems,
    PostgresStore,
    ProjectDocuments,
    Retrieval,
    SqliteDocuments,
    SqliteItems,
    Stores,
    ThreadRetriever,
    where_of_url,
)
from dcf.search import Embedder, EmbedderMissing, embedder_named


@asynccontextmanager
async def open_retrieval(
    settings: Settings, setting: RetrievalSetting, by: Actor, *, goes_on: bool = True
) -> AsyncIterator[Retrieval]:
    """What is logged ``by`` somebody and asked; ``goes_on``: this process stays when it answered.
    Raises a MemoryProblem, a StoreProblem."""
    async with (
        open_code(settings, goes_on=goes_on) as code,
        open_audit(settings) as audit,
        _kept(settings, setting, by) as (stores, memory),
    ):
        yield Retrieval(
            stores.items,
            code,
            now_ms,
            documents=stores.documents,
            personal=setting.personal,
            observations=None if memory is None else ObservationRetriever(memory),
            threads=None if memory is None else ThreadRetriever(memory),
            playbooks=None if memory is None else PlaybookRetriever(memory),
            reranker=setting.reranker.reranker(setting.personal),
            shares=setting.shares,
            facts=_facts(settings, setting),
            audit=audit,
        )


def _facts(settings: Settings, setting: RetrievalSetting) -> GraphFacts | None:
    """One graph has the runs of all projects: where there are several none is told of it."""
    if len(setting.projects.roots) > 1:
        return None
    return GraphFacts(settings.env, project_of_runs(settings.generated))


@asynccontextmanager
async def open_audit(settings: Settings) -> AsyncIterator[AuditLog]:
    """Who read and deleted what, whatever keeps the items."""
    audit = AuditLog.at_home(settings.home, now_ms, settings.env)
    try:
        yield audit
    finally:
        await audit.close()


async def note_read(settings: Settings, project: str, citations: Sequence[str]) -> None:
    """Note that the person at the command line was shown what stands at ``citations``."""
    async with open_audit(settings) as audit:
        audit.note_read(Caller(person("").name), project, citations)


@asynccontextmanager
async def open_code(settings: Settings, *, goes_on: bool = False) -> AsyncIterator[CodeRetrievers]:
    """The code of any project; its indexes are in the home."""
    embedder = await asyncio.to_thread(_embedder, settings.embedder)
    code = CodeRetrievers(settings.home / "code", embedder, goes_on=goes_on)
    try:
        yield code
    finally:
        await code.close()


def memory_settings(settings: Settings, store: BackendSetting) -> Settings:
    """The settings with the file of the memory that the backend ``sqlite`` is told to use."""
    if store.backend != "sqlite" or store.path is None:
        return settings
    return replace(settings, env={**settings.env, "DCF_MEMORY": str(store.path)})


def store_of(settings: Settings) -> BackendSetting:
    """Where the environment has items and documents kept. Raises BadInput."""
    store, problems = BackendSetting.from_env(settings.env)
    if problems:
        raise BadInput(problems)
    return store


@asynccontextmanager
async def open_documents(
    settings: Settings, *, make: bool = False, searched: bool = False
) -> AsyncIterator[ProjectDocuments]:
    """The documents that MEM_BACKEND keeps; to ``make`` a memory for them, if it is missing, and to
    have them ``searched``. Raises BadInput, NotSo, a MemoryProblem, a StoreProblem."""
    store = store_of(settings)
    demand_kept(store)
    if store.backend == "sqlite":
        async with opened(memory_settings(settings, store), make=make) as memory:
            yield SqliteDocuments(memory)
        return
    async with _stores(settings, store, searched=searched) as stores:
        yield stores.documents


@asynccontextmanager
async def open_items(settings: Settings, store: BackendSetting) -> AsyncIterator[Items]:
    """What was logged, to be looked at by its ids, for any backend but sqlite. Raises a
    StoreProblem."""
    async with _stores(settings, store, searched=False) as stores:
        yield stores.items


def demand_kept(store: BackendSetting) -> None:
    """Raises NotSo where what is kept ends with this process."""
    if store.backend == "memory":
        message = "MEM_BACKEND=memory keeps all in a service, as long as it runs, and this is none"
        hint = "name sqlite, file or postgres; `dcf retrieval serve` has what is logged there"
        raise NotSo("retrieval_volatile", message, hint)


@asynccontextmanager
async def _kept(
    settings: Settings, setting: RetrievalSetting, by: Actor
) -> AsyncIterator[tuple[Stores, Memory | None]]:
    store = setting.store
    if store.backend == "memory":
        async with _stores(settings, store, setting.lifetimes, searched=True) as stores:
            yield stores, None
        return
    # Observations, threads and playbooks are in the memory, wherever all else is.
    async with opened(memory_settings(settings, store), make=True) as memory:
        if store.backend == "sqlite":
            yield Stores.of_memory(memory, by, setting.lifetimes), memory
            return
        async with _stores(settings, store, setting.lifetimes, searched=True) as stores:
            yield stores, memory


@asynccontextmanager
async def _stores(
    settings: Settings,
    store: BackendSetting,
    lifetimes: Lifetimes | None = None,
    *,
    searched: bool,
) -> AsyncIterator[Stores]:
    """Those of any backend but sqlite."""
    meant = searched and store.backend == "postgres"
    embedder = await asyncio.to_thread(_embedder, settings.embedder) if meant else None
    async with Stores.open(
        store, settings.home / "items", now_ms, random_id, lifetimes, embedder
    ) as stores:
        yield stores


@asynccontextmanager
async def open_lasting(
    settings: Settings, setting: RetrievalSetting, by: Actor, *, make: bool
) -> AsyncIterator[tuple[LastingItems, ProjectDocuments]]:
    """Items and documents that outlast this process, their place made if it is missing and may be.
    Raises NotSo, a MemoryProblem, a StoreProblem."""
    lifetimes = setting.lifetimes
    if setting.backend == "sqlite":
        async with opened(memory_settings(settings, setting.store), make=make) as memory:
            yield SqliteItems(memory, by, lifetimes), SqliteDocuments(memory)
    elif setting.backend == "file":
        folder = file_folder(settings, setting)
        if not make and not await asyncio.to_thread(folder.is_dir):
            hint = "file:FOLDER or MEM_PATH names another"
            raise NotSo("retrieval_missing", f"there is no folder {folder}", hint)
        yield (
            FileItems(folder, now_ms, random_id, lifetimes),
            FileDocuments(folder, now_ms, random_id),
        )
    else:
        demand_kept(setting.store)
        embedder = await asyncio.to_thread(_embedder, settings.embedder) if make else None
        vectors = embedder is not None
        async with PostgresStore.open(setting.store.database, vectors=vectors, make=make) as store:
            yield (
                PostgresItems(store, now_ms, random_id, lifetimes, embedder),
                PostgresDocuments(store, now_ms, random_id, embedder),
            )


def memory_file(settings: Settings, setting: RetrievalSetting) -> Path:
    """Where the memory is, for the backend sqlite. Raises UnusableKey."""
    return source_in(memory_settings(settings, setting.store)).path


def file_folder(settings: Settings, setting: RetrievalSetting) -> Path:
    """Where items are, for the backend file."""
    return setting.store.path or settings.home / "items"


def place_of(settings: Settings, store: BackendSetting) -> str:
    """Where items are, for any backend: a path, or a database without its user and password; ""
    for the memory of a process. Raises UnusableKey."""
    match store.backend:
        case "sqlite":
            return str(source_in(memory_settings(settings, store)).path.resolve())
        case "file":
            return str((store.path or settings.home / "items").resolve())
        case "postgres":
            return where_of_url(store.database)
        case "memory":
            return ""


# Code and items are compared by the same one: its weights are loaded once.
@cache
def _embedder(name: str) -> Embedder | None:
    if name == "none":
        return None
    try:
        return embedder_named(name)
    except EmbedderMissing:
        # As memory's search does: words alone decide.
        return None
