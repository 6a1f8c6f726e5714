"""Who writes texts and their meanings is killed at any moment: the index holds what rows say."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from campaigns import campaign
from memory_world import Numbered, Ticking, started

from dcf.memory import Memory, Source
from dcf.memory.database import Connection
from dcf.memory.search import signs

KILLS = 2

# Chunks are small, so that most writes make several of one.
WRITER = """
import asyncio, random, sys, time
from contextlib import suppress
from pathlib import Path
from dcf.memory import *
from dcf.memory.observations.editing import Texts
from dcf.memory.search import signs

signs._MOST = 8

async def main(path, me, key):
    chance = random.Random(me)
    clock = lambda: int(time.time() * 1000)
    source = Source(Path(path), key or None)
    async with Memory.open(source, clock=clock, new_id=random_id) as memory:
        await memory.search.catch_up()
        print("ready", flush=True)
        kept = []
        for number in range(1_000_000):
            origin = Origin("thread", me, number + 1)
            new = [
                NewObservation("change", f"{me} {number} {one}", origin, f"project {one % 3}")
                for one in range(chance.randrange(1, 20))
            ]
            kept += [one.id for one in await memory.observations.add(*new, by=SYSTEM)]
            await memory.search.find("change", projects=["project 1"])
            chance.shuffle(kept)
            await memory.observations.forget(Filter(ids=kept[:5]), by=SYSTEM)
            kept = kept[5:]
            if kept:
                said = Texts(narrative=f"said anew {number}")
                await memory.observations.edit(kept[0], said, by=SYSTEM)
            # The last event may be the other writer's, and in its way by now.
            with suppress(MemoryProblem):
                if number % 3 == 2:
                    await memory.events.undo(await memory.events.last(), by=SYSTEM)
            await memory.search.catch_up()

asyncio.run(main(*sys.argv[1:]))
"""


@campaign(shares=50)
async def test_the_index_is_what_one_made_anew_is_when_writers_are_killed(
    share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs, "_MOST", 8)
    # A key makes all of it slower, and moves where it dies.
    source = Source(tmp_path / "m.db", "key" if share % 2 else None)
    chance = random.Random(share)
    for kill in range(KILLS):
        # Two at once, so that one dies while the other writes.
        writers = [started(WRITER, source.path, f"{kill}{side}", source.key or "") for side in "ab"]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        await asyncio.sleep(chance.uniform(0, 0.5))
        for writer in writers:
            await asyncio.sleep(chance.uniform(0, 0.02))
            writer.kill()
        for writer in writers:
            _, errors = writer.communicate()
            assert errors == b""
        async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
            assert await memory.check() == ()
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        await memory.search.catch_up()
        kept = await memory.ledger.read(_meanings)
        assert kept
        await memory.search.rebuild()
        await memory.search.catch_up()
        assert await memory.ledger.read(_meanings) == kept
        assert await memory.check() == ()


def _meanings(connection: Connection) -> set[tuple[object, ...]]:
    """Each text with its vector, with which ``check`` has compared its signs."""
    rows = connection.execute(
        "SELECT kind, ref, length, value FROM search_documents LEFT JOIN search_vectors"
        " USING (place)"
    )
    return {tuple(row) for row in rows}
