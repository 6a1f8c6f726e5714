"""Whoever extracts dies at each of its writes in turn: each event yields its observations once."""

from __future__ import annotations

import shutil
from contextlib import AbstractAsyncContextManager
from itertools import count
from pathlib import Path
from typing import Any

from campaigns import REMEMBERED, settled
from extraction_world import World, agent_of, converse, is_whole, titles_by_turn, turn
from memory_world import Ticking

from dcf.memory import SYSTEM, Memory, NewThread, NewTurn, Outline, Source, random_id

pytestmark = settled(*REMEMBERED)

WRITES = ("INSERT", "UPDATE", "DELETE", "COMMIT")
LEASE_MS = 60_000


class Killed(BaseException):
    """The process is no more."""


class Mortal:
    """A connection whose process dies at the n-th write: before it, or, of a commit, also behind
    it. A dead one writes nothing more."""

    def __init__(self, connection: Any, die_at: int) -> None:
        self._connection = connection
        self._left = die_at

    def execute(self, sql: str, *values: Any) -> Any:
        word = sql.split()[0]
        if word == "ROLLBACK":
            return self._connection.execute(sql)
        if word in WRITES:
            self._live()
        elif self._left <= 0:
            raise Killed
        done = self._connection.execute(sql, *values)
        if word == "COMMIT":
            self._live()
        return done

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _live(self) -> None:
        self._left -= 1
        if self._left <= 0:
            raise Killed


def mortal(memory: Memory, die_at: int) -> None:
    database = memory.ledger.database
    database._writer = Mortal(database._writer, die_at)  # type: ignore[assignment]


def opened(source: Source, clock: Ticking) -> AbstractAsyncContextManager[Memory]:
    return Memory.open(source, clock=clock, new_id=random_id, embedder="none")


async def extracted(memory: Memory) -> None:
    """What is there is queued and worked through."""
    world = World(memory, lease_ms=LEASE_MS)
    await world.find()
    await world.extractor.run()


async def test_a_death_at_any_write_leaves_each_events_observations_once(tmp_path: Path) -> None:
    begun = Source(tmp_path / "begun.db")
    async with opened(begun, Ticking()) as memory:
        turns = tuple(NewTurn("assistant", turn(number)) for number in (1, 2))
        await memory.threads.sync(NewThread("amp", Outline("t-1", "/shop"), turns), by=SYSTEM)
        await converse(memory, await agent_of(memory), turn(3))
    deaths = 0
    for die_at in count(1):
        clock = Ticking()
        source = Source(tmp_path / f"{die_at}.db")
        shutil.copyfile(begun.path, source.path)
        died = False
        async with opened(source, clock) as memory:
            mortal(memory, die_at)
            try:
                await extracted(memory)
            except Killed:
                died = True
        clock.now += LEASE_MS
        async with opened(source, clock) as memory:
            await extracted(memory)
            found = await titles_by_turn(memory)
            assert sorted(found) == ["turn-0001", "turn-0002", "turn-0003"], die_at
            assert all(map(is_whole, found.values())), (die_at, found)
            counts = await World(memory).queue.counts()
            assert (counts.done, counts.found, counts.waiting, counts.claimed) == (3, 6, 0, 0)
            assert await memory.check() == ()
        deaths += died
        if not died:
            break
    assert deaths > 30
