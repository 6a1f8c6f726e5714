"""Memory and code of the projects of a setting, as one retrieval."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from dcf.cli.memory.opening import now_ms, opened, source_in
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.knowledge import GraphFacts
from dcf.memory import Actor, Memory, project_of_runs, random_id
from dcf.retrieval import (
    AuditLog,
    CodeShelf,
    DocumentShelf,
    FileItems,
    Items,
    LastingItems,
    MemoryItems,
    ObservationShelf,
    PlaybookShelf,
    PostgresItems,
    Retrieval,
    VolatileItems,
)
from dcf.search import Embedder, EmbedderMissing, embedder_named


@asynccontextmanager
async def open_retrieval(
    settings: Settings, setting: RetrievalSetting, by: Actor
) -> AsyncIterator[Retrieval]:
    """What is logged ``by`` somebody and asked. Raises a MemoryProblem, a StoreProblem."""
    async with (
        open_shelf(settings) as shelf,
        open_audit(settings, setting) as audit,
        _items(settings, setting, by) as (items, memory),
    ):
        yield Retrieval(
            items,
            shelf,
            now_ms,
            documents=None if memory is None else DocumentShelf(memory),
            personal=setting.personal,
            observations=None if memory is None else ObservationShelf(memory),
            playbooks=None if memory is None else PlaybookShelf(memory),
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
async def open_audit(settings: Settings, setting: RetrievalSetting) -> AsyncIterator[AuditLog]:
    """Who read and deleted what, whatever keeps the items."""
    audit = AuditLog(settings.home / "audit", now_ms, reads=setting.audit_reads)
    try:
        yield audit
    finally:
        await audit.close()


@asynccontextmanager
async def open_shelf(settings: Settings) -> AsyncIterator[CodeShelf]:
    """The code of any project; its indexes are in the home."""
    embedder = await asyncio.to_thread(_embedder, settings.embedder)
    shelf = CodeShelf(settings.home / "code", embedder)
    try:
        yield shelf
    finally:
        await shelf.close()


def memory_settings(settings: Settings, setting: RetrievalSetting) -> Settings:
    """The settings with the memory that the backend ``sqlite`` is told to use."""
    if setting.backend != "sqlite" or setting.path is None:
        return settings
    return replace(settings, env={**settings.env, "DCF_MEMORY": str(setting.path)})


@asynccontextmanager
async def _items(
    settings: Settings, setting: RetrievalSetting, by: Actor
) -> AsyncIterator[tuple[Items, Memory | None]]:
    if setting.backend == "memory":
        yield VolatileItems(now_ms, random_id, setting.lifetimes), None
        return
    # Documents, observations and playbooks are in the memory, wherever items are.
    async with opened(memory_settings(settings, setting), make=True) as memory:
        if setting.backend == "sqlite":
            yield MemoryItems(memory, by, setting.lifetimes), memory
            return
        async with open_lasting(settings, setting, by, make=True) as items:
            yield items, memory


@asynccontextmanager
async def open_lasting(
    settings: Settings, setting: RetrievalSetting, by: Actor, *, make: bool
) -> AsyncIterator[LastingItems]:
    """Items that outlast this process, their place made if it is missing and may be. Raises NotSo,
    a MemoryProblem, a StoreProblem."""
    lifetimes = setting.lifetimes
    if setting.backend == "sqlite":
        async with opened(_at(settings, setting), make=make) as memory:
            yield MemoryItems(memory, by, lifetimes)
    elif setting.backend == "file":
        folder = file_folder(settings, setting)
        if not make and not await asyncio.to_thread(folder.is_dir):
            hint = "file:FOLDER or MEM_PATH names another"
            raise NotSo("retrieval_missing", f"there is no folder {folder}", hint)
        yield FileItems(folder, now_ms, random_id, lifetimes)
    else:
        demand_kept(setting)
        embedder = await asyncio.to_thread(_embedder, settings.embedder) if make else None
        async with PostgresItems.open(
            setting.database, now_ms, random_id, lifetimes, embedder, make=make
        ) as items:
            yield items


def demand_kept(setting: RetrievalSetting) -> None:
    """Raises NotSo where what is logged ends with this process."""
    if setting.backend == "memory":
        message = "MEM_BACKEND=memory keeps what is logged in a service, and this is none"
        hint = "unset it, or ask the service: `dcf retrieval serve`"
        raise NotSo("retrieval_volatile", message, hint)


def memory_file(settings: Settings, setting: RetrievalSetting) -> Path:
    """Where the memory is, for the backend sqlite. Raises UnusableKey."""
    return source_in(_at(settings, setting)).path


def file_folder(settings: Settings, setting: RetrievalSetting) -> Path:
    """Where items are, for the backend file."""
    return setting.path or settings.home / "items"


def _at(settings: Settings, setting: RetrievalSetting) -> Settings:
    if setting.backend == "sqlite" and setting.path is not None:
        return replace(settings, env={**settings.env, "DCF_MEMORY": str(setting.path)})
    return settings


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
