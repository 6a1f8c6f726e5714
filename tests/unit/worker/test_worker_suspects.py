"""States that a worker died over: who works on them, and what keeps nobody from it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from unit.workflow.stage import Stage, flow, staged, task

from control_plane import Hint, HintQueue, Lease, timers
from dcf.worker import LeaseKeeper, Performer, Worker
from dcf.workflow import Choreographer

RUNS = ("r1", "r2")


async def suspects(stage: Stage) -> None:
    """A of both runs, over which the same worker died."""
    for run in RUNS:
        await stage.submit(flow(A=task()), run, run=run)
        lease = await stage.store.acquire(run, "A", owner="dies", ttl_ms=1_000)
        assert isinstance(lease, Lease)
    await asyncio.sleep(1.1)
    for run in RUNS:
        await timers.tick(stage.store, run)
        assert (await stage.state("A", run)).deaths == 1


@asynccontextmanager
async def at_work(stage: Stage, work: Any, **more: Any) -> AsyncIterator[Worker]:
    """A worker beside those of the stage."""
    worker = Worker(
        "w1",
        stage.store,
        HintQueue(stage.twin, pool="default", consumer="w1"),
        LeaseKeeper(stage.store, now=stage.loop.time),
        Choreographer(stage.store, rng=random.Random(1)),
        Performer({"work": work}),
        now=stage.loop.time,
        **more,
    )
    working = asyncio.create_task(worker.run())
    yield worker
    worker.drain()
    await working


@staged
async def test_who_waits_for_a_busy_companion_keeps_no_other_suspect_from_its_own(
    stage: Stage,
) -> None:
    await suspects(stage)
    free = asyncio.Event()
    turns: list[str] = []
    done: list[str] = []

    async def work(given: str) -> str:
        done.append(given)
        return given

    @asynccontextmanager
    async def turn(hint: Hint) -> AsyncIterator[str]:
        # Once it is known as a suspect, the companion of r1 has something else to do.
        turns.append(hint.workflow_id)
        if turns.count("r1") > 1 and hint.workflow_id == "r1":
            await free.wait()
        yield "w1"

    async with at_work(stage, work, turn=turn):
        await stage.end("r2", within_s=30)
        assert (turns.count("r1") > 1, done) == (True, ["r2"])
        free.set()
        await stage.end("r1", within_s=30)


@staged
async def test_here_suspects_are_worked_on_one_at_a_time(stage: Stage) -> None:
    await suspects(stage)
    now = most = 0

    async def work(given: str) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(3)
        now -= 1
        return given

    async with at_work(stage, work):
        for run in RUNS:
            await stage.end(run, within_s=60)
    assert most == 1


class Solo:
    """A process in which the state of a lease is done and its lease given back."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.leases: list[Lease] = []
        self.closed = False

    async def __call__(self, lease: Lease) -> str | None:
        self.leases.append(lease)
        await asyncio.sleep(0.5)
        return "exit with status 3"

    async def close(self) -> None:
        self.closed = True


class Solos:
    """Processes of which the first few do not come up."""

    def __init__(self, stage: Stage, failures: int) -> None:
        self._stage = stage
        self._failures = failures
        self.asked: list[str] = []
        self.made: list[Solo] = []

    async def start(self, state: str) -> Solo | None:
        self.asked.append(state)
        await asyncio.sleep(4)
        if len(self.asked) <= self._failures:
            return None
        self.made.append(Solo(self._stage))
        return self.made[-1]


@staged
async def test_a_state_is_leased_once_its_process_is_up_and_not_before(stage: Stage) -> None:
    await suspects(stage)
    solos = Solos(stage, failures=3)
    async with at_work(stage, None, solo=solos):
        await asyncio.sleep(11)
        assert (solos.asked[:2], solos.made) == (["A of r1", "A of r1"], [])
        for run in RUNS:
            state = await stage.state("A", run)
            assert (state.status, state.attempts) == ("ready", 1)
        await stage.until_status("A", "running", "r1")
        (solo,) = solos.made
        assert solo.leases[0].path == "A"
    # Whoever had a state, and whoever was to get one when the worker ended, is closed.
    assert solos.made and all(one.closed for one in solos.made)
