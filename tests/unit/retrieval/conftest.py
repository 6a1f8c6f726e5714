"""Each backend of logged items, with a clock that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking
from postgres_world import PostgresServer

from dcf.memory import SYSTEM, Memory, Source
from dcf.retrieval import Items, Lifetimes, MemoryItems, PostgresItems, VolatileItems

DAY_MS = 86_400_000
LIFETIMES = Lifetimes({"runlog": DAY_MS, "incident": 7 * DAY_MS})


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


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def items(request: pytest.FixtureRequest, file: Path, clock: Ticking) -> AsyncIterator[Items]:
    if request.param == "memory":
        yield VolatileItems(clock, Numbered(), LIFETIMES)
        return
    if request.param == "postgres":
        url = request.getfixturevalue("database")
        async with PostgresItems.open(url, clock, Numbered(), LIFETIMES) as kept:
            yield kept
        return
    async with Memory.open(Source(file), clock=clock, new_id=Numbered(), embedder="none") as memory:
        yield MemoryItems(memory, SYSTEM, LIFETIMES)
        assert await memory.check() == ()
