"""Writers are killed at any moment: the file is whole, and what was acknowledged is there."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

from campaigns import campaign
from memory_world import Numbered, Ticking, started

from dcf.memory import SYSTEM, Memory, NewAgent, NewBlock, Source

KILLS = 3

WRITER = """
import asyncio, sys, time
from pathlib import Path
from dcf.memory import SYSTEM, Memory, NewAgent, NewPlaybook, Source, random_id

async def main(path, me) -> None:
    clock = lambda: int(time.time() * 1000)
    async with Memory.open(Source(Path(path)), clock=clock, new_id=random_id) as memory:
        number = 0
        while True:
            number += 1
            name = f"{me}.{number}"
            await memory.blocks.append("agent-1", "log", name, by=SYSTEM)
            # Many rows in one transaction: an agent with its blocks.
            agent = await memory.agents.create(NewAgent(name), by=SYSTEM, agent_id=name)
            await memory.blocks.write(name, "human", "x" * 3000, by=SYSTEM)
            if number % 3 == 0:
                await memory.agents.delete(name, by=SYSTEM)
            known = await memory.playbooks.add(NewPlaybook("Busy", "Wait.", name), by=SYSTEM)
            await memory.playbooks.count(known.id, helped=True, used_by=me, by=SYSTEM)
            # Said only now: all of it was committed.
            print(name, number % 3 == 0, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


@campaign(shares=50)
async def test_nothing_acknowledged_is_lost_when_writers_are_killed(
    share: int, tmp_path: Path
) -> None:
    source = Source(tmp_path / "m.db")
    chance = random.Random(share)
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        await memory.agents.create(
            NewAgent("keeper"), by=SYSTEM, agent_id="agent-1", blocks=[NewBlock("log")]
        )
    acknowledged: list[list[str]] = []
    for kill in range(KILLS):
        # Two at once, so that one dies while the other writes.
        writers = [started(WRITER, source.path, f"k{kill}{side}") for side in "ab"]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().decode().split())
        await asyncio.sleep(chance.uniform(0, 0.15))
        for writer in writers:
            await asyncio.sleep(chance.uniform(0, 0.02))
            writer.kill()
        for writer in writers:
            output, errors = writer.communicate()
            assert errors == b""
            acknowledged += [line.split() for line in output.decode().splitlines()]
        async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
            assert await memory.check() == ()
    said = [line for line in acknowledged if len(line) == 2]
    assert len(said) >= 2 * KILLS
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        log = set((await memory.blocks.read("agent-1", "log")).value.split())
        there = {agent.name for agent in await memory.agents.list(limit=100_000)}
        assert {name for name, _ in said} <= log
        known = {one.owner: one.helped for one in await memory.playbooks.list(limit=100_000)}
        assert [known.get(name) for name, _ in said] == [1] * len(said)
        for name, deleted in said:
            assert (name in there) is (deleted == "False"), name
        # What was not acknowledged is whole or absent: every agent has all its blocks.
        for name in there - {"keeper"}:
            assert len(await memory.blocks.list(name)) == 6
