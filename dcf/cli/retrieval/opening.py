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
from dcf.memory import Actor, random_id
from dcf.retrieval import (
    CodeShelf,
    DocumentShelf,
    FileItems,
    Items,
    LastingItems,
    MemoryItems,
    ObservationShelf,
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
        _items(settings, setting, by) as (items, documents, seen),
    ):
        yield Retrieval(items, shelf, now_ms, documents, setting.personal, seen)


@asynccontextmanager
async def open_shelf(settings: Settings) -> AsyncIterator[CodeShelf]:
    """The code of any project; its indexes are in the home."""
    embedder = await asyncio.to_thread(_embedder, settings.embedder)
    shelf = CodeShelf(settings.home / "code", embedder)
    try:
        yield shelf
    finally:
        await shelf.close()


@asynccontextmanager
async def _items(
    settings: Settings, setting: RetrievalSetting, by: Actor
) -> AsyncIterator[tuple[Items, DocumentShelf | None, ObservationShelf | None]]:
    if setting.backend == "memory":
        yield VolatileItems(now_ms, random_id, setting.lifetimes), None, None
        return
    # Documents and observations are in the memory, wherever items are.
    async with opened(_at(settings, setting), make=True) as memory:
        shelves = DocumentShelf(memory), ObservationShelf(memory)
        if setting.backend == "sqlite":
            yield MemoryItems(memory, by, setting.lifetimes), *shelves
            return
        async with open_lasting(settings, setting, by, make=True) as items:
            yield items, *shelves


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
