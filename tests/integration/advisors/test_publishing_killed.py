"""Publishers that are killed while they publish: what was acknowledged stays, and the document is
always whole."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from commands import python
from local_world import local_world

from dcf.advisors import open_board
from dcf.memory import SYSTEM, NewAgent

PUBLISH = """
import asyncio, json, sys
from pathlib import Path
from local_world import local_world
from dcf.advisors import update_reflector_guidelines

async def main(folder, agent, tag):
    async with local_world(Path(folder)) as world:
        for n in range(10_000):
            warning = json.dumps({"warning": f"{tag}-{n}"})
            done = await update_reflector_guidelines(
                world.runtime, agent, add_warning=warning, now=1_700_000_000_000 + n
            )
            print(done.revision, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""
ACKNOWLEDGED = 5


async def test_what_was_published_survives_a_kill(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        planner = (await world.runtime.create(NewAgent(name="planner"), by=SYSTEM)).id
        board = await open_board(world.runtime, planner)
        revision = 0
        for tag in ("a", "b"):
            publisher = await asyncio.create_subprocess_exec(
                python(),
                "-c",
                PUBLISH,
                str(tmp_path),
                planner,
                tag,
                stdout=asyncio.subprocess.PIPE,
                env={"PYTHONPATH": ":".join(sys.path)},
            )
            assert publisher.stdout is not None
            for _ in range(ACKNOWLEDGED):
                said = int(await publisher.stdout.readline())
                assert said == revision + 1
                revision = said
            publisher.kill()
            late = (await publisher.stdout.read()).split()
            await publisher.wait()
            acknowledged = int(late[-1]) if late else revision
            guidelines = await board.read()
            # The one under way when it was killed may be there or not; nothing is there twice.
            assert guidelines.revision in (acknowledged, acknowledged + 1)
            warnings = [one.warning for one in guidelines.warnings]
            assert len(set(warnings)) == len(warnings) == min(guidelines.revision, 50)
            revision = guidelines.revision
