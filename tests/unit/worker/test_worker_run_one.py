"""A worker for one state: what it does when that is over, and what it hands on to its starter."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from unit.workflow.stage import RUN, Stage, flow, staged, task

from control_plane import Disconnected, HintQueue, Lease, ServerError
from dcf.worker import LeaseKeeper, Performer, Worker, WorkerConfig
from dcf.workflow import Choreographer


async def lease_and_worker(stage: Stage, work: Any) -> tuple[Lease, Worker]:
    await stage.submit(flow(A=task()))
    lease = await stage.store.acquire(RUN, "A", owner="w1", alone="watched")
    assert isinstance(lease, Lease)
    worker = Worker(
        "w1",
        stage.store,
        HintQueue(stage.twin, pool="default", consumer="w1"),
        LeaseKeeper(stage.store, now=stage.loop.time),
        Choreographer(stage.store, rng=random.Random(1)),
        Performer({"work": work}),
        now=stage.loop.time,
        config=WorkerConfig(drain_s=0.5),
    )
    return lease, worker


@staged
async def test_the_run_that_it_ends_is_sealed(stage: Stage) -> None:
    async def work(given: Any) -> Any:
        return given

    lease, worker = await lease_and_worker(stage, work)
    assert await worker.run_one(lease)
    run = await stage.store.run(RUN)
    assert run.status == "succeeded"
    assert run.raw["finalized_at"] is not None


@staged
async def test_what_redis_did_not_let_it_do_is_nothing_of_the_state(stage: Stage) -> None:
    async def work(_: Any) -> Any:
        raise Disconnected("away")

    lease, worker = await lease_and_worker(stage, work)
    assert await worker.run_one(lease)
    # Whoever started it gives the lease back.
    assert await stage.store.release(lease) is None
    assert (await stage.state("A")).deaths == 0


@staged
async def test_what_broke_under_the_state_is_told(stage: Stage) -> None:
    async def work(given: Any) -> Any:
        return given

    async def broken(*_: Any, **__: Any) -> Any:
        raise ServerError("no such command")

    lease, worker = await lease_and_worker(stage, work)
    vars(stage.store)["commit"] = broken
    with pytest.raises(ServerError):
        await worker.run_one(lease)
    stage.defects.clear()


@staged
async def test_work_that_cancels_itself_does_not_end_in_order(stage: Stage) -> None:
    async def work(_: Any) -> Any:
        for each in asyncio.all_tasks() - {stage_task}:
            each.cancel()
        await asyncio.sleep(600)

    stage_task = asyncio.current_task()
    lease, worker = await lease_and_worker(stage, work)
    assert not await worker.run_one(lease)
    stage.defects.clear()
