"""A first task and a first turn at the same moment load the library of models once."""

from __future__ import annotations

import subprocess
from pathlib import Path

from commands import python

PROGRAM = """
import asyncio, sys
from pathlib import Path
from dcf.agents import LocalAgents
from dcf.memory import SYSTEM, Memory, NewAgent, Source, random_id

async def main():
    source = Source(Path(sys.argv[1]))
    async with Memory.open(source, clock=lambda: 1, new_id=random_id) as memory:
        agent = await memory.agents.create(NewAgent("ann"), by=SYSTEM)
        agents = LocalAgents(memory)
        _, reply = await asyncio.gather(agents.prepare(), agents.send(agent.id, "Hello."))
        print(reply.model)
        await agents.aclose()

asyncio.run(main())
"""


def test_two_threads_that_load_it_at_once_do_not_meet(tmp_path: Path) -> None:
    done = subprocess.run(
        [python(), "-c", PROGRAM, str(tmp_path / "memory.db")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "rehearsal\n"), done.stderr
