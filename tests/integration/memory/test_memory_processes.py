"""Ten processes change blocks of one file at once: no error, no lost update."""

from __future__ import annotations

import json
from pathlib import Path

from commands import python
from memory_world import Numbered, Ticking, started

from dcf.memory import Actor, Memory, NewAgent, NewBlock, Source

BY = Actor("user", "ada")
PROCESSES, APPENDS, WRITES = 10, 12, 12

WRITER = """
import asyncio, json, sys, time
from pathlib import Path
from dcf.memory import Actor, Memory, RevisionConflict, Source, random_id

async def main(path, me, appends, writes) -> None:
    clock = lambda: int(time.time() * 1000)
    by = Actor("agent", me)
    conflicts = 0
    async with Memory.open(Source(Path(path)), clock=clock, new_id=random_id) as memory:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for number in range(int(appends)):
            while True:
                block = await memory.blocks.read("agent-1", "compared")
                text = block.value + f"{me}.{number}\\n"
                try:
                    await memory.blocks.write(
                        "agent-1", "compared", text, by=by, expected=block.revision
                    )
                    break
                except RevisionConflict:
                    conflicts += 1
            await memory.blocks.append("agent-1", "appended", f"{me}.{number}", by=by)
        for number in range(int(writes)):
            await memory.blocks.write("agent-1", f"own-{me}", f"{me} {number}", by=by)
            await memory.agents.tag("agent-1", by=by, add=[f"{me}.{number}"])
    print(json.dumps(conflicts), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_ten_processes_write_at_once_without_an_error_or_a_lost_update(
    tmp_path: Path,
) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        labels = ["compared", "appended", *(f"own-p{one}" for one in range(PROCESSES))]
        await memory.agents.create(
            NewAgent("anna"), by=BY, blocks=[NewBlock(label) for label in labels]
        )
        writers = [
            started(WRITER, source.path, f"p{one}", APPENDS, WRITES, interpreter=python())
            for one in range(PROCESSES)
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"go\n")
            writer.stdin.flush()
        ends = [writer.communicate(timeout=100) for writer in writers]
        assert [errors for _, errors in ends] == [b""] * PROCESSES
        assert sum(json.loads(output) for output, _ in ends) > 0, "they did get in each other's way"
        wanted = sorted(f"p{one}.{number}" for one in range(PROCESSES) for number in range(APPENDS))
        texts = {one.label: one.value for one in await memory.blocks.list("agent-1")}
        assert sorted(texts["compared"].split()) == wanted
        assert sorted(texts["appended"].split()) == wanted
        for one in range(PROCESSES):
            assert texts[f"own-p{one}"] == f"p{one} {WRITES - 1}"
        assert len((await memory.agents.get("agent-1")).tags) == PROCESSES * WRITES
        written = await memory.events.list(operation="updated", limit=10_000)
        assert len(written) == PROCESSES * (2 * APPENDS + 2 * WRITES)
        assert await memory.check() == ()
