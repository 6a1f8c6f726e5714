"""A memory on a new file, with a clock and ids that tests can foresee."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import Actor, Memory, Source


@pytest.fixture
def by() -> Actor:
    return Actor("user", "ada")


@pytest.fixture
def clock() -> Ticking:
    return Ticking()


@pytest.fixture
async def memory(tmp_path: Path, clock: Ticking) -> AsyncIterator[Memory]:
    async with Memory.open(Source(tmp_path / "m.db"), clock=clock, new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == (), "the file is whole after every test"
