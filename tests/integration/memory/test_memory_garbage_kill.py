"""Garbage collection is killed at any moment, while others write: the file is whole, and the next
one goes on."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking, started

from dcf.memory import (
    SYSTEM,
    HistoryForgotten,
    Memory,
    NewAgent,
    NewBlock,
    NewPassage,
    Retention,
    Source,
)

KILLS = 3

COLLECTOR = """
import asyncio, sys, time
from pathlib import Path
from dcf.memory import Memory, Retention, Source, random_id

async def main(path) -> None:
    clock = lambda: int(time.time() * 1000)
    async with Memory.open(Source(Path(path)), clock=clock, new_id=random_id) as memory:
        last = await memory.events.last()
        print("ready", flush=True)
        for most in range(last, 0, -7):
            retention = Retention(events_ms=None, most_events=most, most_passages=most // 8)
            await memory.collect_garbage(retention, batch=3)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_collection_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db")
    chance = random.Random(7)
    clock, ids = Ticking(), Numbered()
    async with Memory.open(source, clock=clock, new_id=ids) as memory:
        await memory.agents.create(
            NewAgent("keeper"), by=SYSTEM, agent_id="agent-1", blocks=[NewBlock("log")]
        )
        born = await memory.events.last()
        for number in range(20):
            name = f"agent-{number}.x"
            await memory.agents.create(NewAgent(name), by=SYSTEM, agent_id=name)
            new = NewPassage(f"passage {number}", salience=number / 20)
            await memory.passages.insert("agent-1", new, by=SYSTEM)
        borders = [0]
        for kill in range(KILLS):
            collector = started(COLLECTOR, source.path)
            assert collector.stdout is not None
            await asyncio.to_thread(collector.stdout.readline)
            until = asyncio.get_running_loop().time() + chance.uniform(0, 0.2)
            written = 0
            async with asyncio.timeout(60):
                # The first is not killed before it has given up events of the block's own life
                # (before them it had no text at all), however slow the machine.
                while (
                    asyncio.get_running_loop().time() < until
                    or await memory.events.border() <= born
                ):
                    written += 1
                    await memory.blocks.append("agent-1", "log", f"{kill}.{written}", by=SYSTEM)
            collector.kill()
            _, errors = collector.communicate()
            assert errors == b""
            assert await memory.check() == ()
            borders.append(await memory.events.border())
            # All that is not given up can still be undone, and nothing further back.
            block = await memory.blocks.read("agent-1", "log")
            last = await memory.events.last()
            assert await memory.events.text(block.id, last) == block.value
            assert await memory.events.text(block.id, borders[-1]) is not None
            with pytest.raises(HistoryForgotten):
                await memory.events.text(block.id, borders[-1] - 1)
        assert borders == sorted(borders)
        assert borders[1] > born, "one was killed when it had done something"
        lines = (await memory.blocks.read("agent-1", "log")).value.split("\n")
        assert len(set(lines)) == len(lines), "nothing was written twice or lost"
        assert len(await memory.agents.list()) == 21
        retention = Retention(events_ms=None, most_events=10, most_passages=3)
        planned = await memory.collect_garbage(retention, dry_run=True)
        done = await memory.collect_garbage(retention)
        assert done.garbage == planned.garbage
        again = await memory.collect_garbage(replace(retention, most_events=10), dry_run=True)
        assert again.count == 0
        kept = [one.text for one in await memory.passages.list("agent-1")]
        assert kept == ["passage 17", "passage 18", "passage 19"]
