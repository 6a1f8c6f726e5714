"""Each backend of logged items and of documents, with a clock that tests move."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking
from postgres_world import PostgresServer

from dcf.memory import SYSTEM, Memory, Source, random_id
from dcf.retrieval import (
    FileDocuments,
    FileItems,
    Items,
    LastingItems,
    Lifetimes,
    PostgresDocuments,
    PostgresItems,
    ProjectDocuments,
    SqliteDocuments,
    SqliteItems,
    VolatileDocuments,
    VolatileItems,
)

DAY_MS = 86_400_000
LIFETIMES = Lifetimes(
    {"runlog": DAY_MS, "incident": 7 * DAY_MS, "law": 365 * DAY_MS}, others=30 * DAY_MS
)


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of the memory, where a test has one."""
    return tmp_path / "m.db"


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    """URL of a real PostgreSQL database with pgvector that holds no table."""
    return postgres_server.empty_schema()


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file grows above ``size`` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@asynccontextmanager
async def _volatile(_folder: Path, clock: Ticking) -> AsyncIterator[Items]:
    yield VolatileItems(clock, Numbered(), LIFETIMES)


@asynccontextmanager
async def _sqlite(folder: Path, clock: Ticking) -> AsyncIterator[Items]:
    source = Source(folder / "m.db")
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        yield SqliteItems(memory, SYSTEM, LIFETIMES)
        assert await memory.check() == ()


@asynccontextmanager
async def _file(folder: Path, clock: Ticking) -> AsyncIterator[Items]:
    yield FileItems(folder / "items", clock, random_id, LIFETIMES)


Opened = Callable[[Path, Ticking], AbstractAsyncContextManager[Items]]

LASTING: dict[str, Opened] = {"sqlite": _sqlite, "file": _file}
"""Backends by name, each opened with a folder of its own; two of one folder are two processes."""
BACKENDS: dict[str, Opened] = {"memory": _volatile, **LASTING}


@asynccontextmanager
async def _opened(
    request: pytest.FixtureRequest, folder: Path, clock: Ticking
) -> AsyncIterator[Items]:
    if request.param == "postgres":
        url = request.getfixturevalue("database")
        async with PostgresItems.open(url, clock, Numbered(), LIFETIMES) as kept:
            yield kept
        return
    async with BACKENDS[request.param](folder, clock) as opened:
        yield opened


@pytest.fixture(params=[*BACKENDS, "postgres"])
async def items(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Ticking
) -> AsyncIterator[Items]:
    async with _opened(request, tmp_path, clock) as opened:
        yield opened


@pytest.fixture(params=[*LASTING, "postgres"])
async def lasting_items(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Ticking
) -> AsyncIterator[LastingItems]:
    async with _opened(request, tmp_path, clock) as opened:
        yield opened  # type: ignore[misc]


OpenedDocuments = Callable[[], AbstractAsyncContextManager[ProjectDocuments]]


@asynccontextmanager
async def _documents_in_memory(file: Path, clock: Ticking) -> AsyncIterator[ProjectDocuments]:
    source = Source(file)
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        yield SqliteDocuments(memory)
        assert await memory.check() == ()


@asynccontextmanager
async def _as_opened(documents: ProjectDocuments) -> AsyncIterator[ProjectDocuments]:
    yield documents


@pytest.fixture(params=["sqlite", "file", "postgres"])
def lasting_documents(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Ticking
) -> OpenedDocuments:
    """What opens one backend; two that are open are two processes."""
    if request.param == "sqlite":
        return lambda: _documents_in_memory(tmp_path / "m.db", clock)
    if request.param == "file":
        return lambda: _as_opened(FileDocuments(tmp_path / "items", clock, random_id))
    url = request.getfixturevalue("database")
    return lambda: PostgresDocuments.open(url, clock, random_id)


@pytest.fixture(params=["memory", "sqlite", "file", "postgres"])
async def documents(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Ticking
) -> AsyncIterator[ProjectDocuments]:
    if request.param == "memory":
        yield VolatileDocuments(clock, Numbered())
    elif request.param == "sqlite":
        async with _documents_in_memory(tmp_path / "m.db", clock) as opened:
            yield opened
    elif request.param == "file":
        yield FileDocuments(tmp_path / "items", clock, Numbered())
    else:
        url = request.getfixturevalue("database")
        async with PostgresDocuments.open(url, clock, Numbered()) as opened:
            yield opened
