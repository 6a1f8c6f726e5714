"""A worker process that is killed (SIGKILL) while it writes into the nodes of its branches."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from commands import python
from integration.worker import noting_worker
from integration.worker.crew import crew_on
from integration.worker.noting_worker import PROJECT
from memory_world import Numbered, Ticking
from unit.workflow.stage import document_of, flow, mapping, task

from dcf.memory import Memory, Source
from dcf.workflow import submit

_TESTS = Path(__file__).parents[2]
FRUITS = ["plum", "fig", "pear"]


@asynccontextmanager
async def worker_process(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A worker at work in a process of its own, which ends with the block if it did not before."""
    process = await asyncio.create_subprocess_exec(
        *(python(), noting_worker.__file__, *arguments),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_TESTS.parent), str(_TESTS)])},
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_whoever_takes_over_works_in_the_nodes_of_the_one_that_died(
    redis_url: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "memory.db")
    fan = mapping(flow(Note=task("note")))
    async with crew_on(redis_url) as crew, asyncio.timeout(60):
        async with worker_process(redis_url, file, "w1", "dies") as first:
            document = document_of(flow(Fan=fan))
            await submit(crew.store, document, FRUITS, workflow_id="r1")
            assert await first.wait() == -signal.SIGKILL
        async with worker_process(redis_url, file, "w2"):
            result = await crew.end("r1")
    assert result.status == "succeeded"
    source = Source(Path(file))
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        root = await memory.nodes.named(PROJECT)
        tree = await memory.nodes.tree(root.id)
        names = [one.node.called for one in tree]
        assert names[:2] == [PROJECT, "r1/run"]
        assert sorted(names[2:]) == [f"r1/Fan[{number}]" for number in range(len(FRUITS))]
        assert await memory.check() == ()
    # Each read its own branch alone, with what the dead worker had written there.
    for seen, fruit in zip(result.output, FRUITS, strict=True):
        assert seen[-1] == f"{fruit}, by w2" and set(seen[:-1]) <= {f"{fruit}, by w1"}
    assert any(len(seen) == 2 for seen in result.output)
