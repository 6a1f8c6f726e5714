"""What workers do besides their work: nothing of it keeps timers back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from stage import Calls, Stage, flow, passing, retry, staged, task

from control_plane import HintQueue, Refusal, Store
from control_plane.script import Script
from dcf.stopping import stop
from dcf.worker import sweeper


@contextmanager
def sealing_without_end() -> Iterator[asyncio.Event]:
    """No run that is over is ever sealed; set as soon as a worker tries."""
    sealing = asyncio.Event()

    async def endless(_store: object, workflow_id: str, *, by: str) -> dict[str, Any]:
        del workflow_id, by
        sealing.set()
        await asyncio.Event().wait()
        return {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeper, "finalize", endless)
        yield sealing


@staged
async def test_a_timer_fires_in_time_while_a_run_is_sealed_that_takes_long(stage: Stage) -> None:
    with sealing_without_end() as sealing:
        stage.worker()
        long = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 900, "End": True}}}
        short = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 30, "End": True}}}
        await stage.submit(long, run="over")
        await stage.submit(short, run="waits")
        await stage.until_status("A", "waiting", "waits")
        await stage.store.cancel("over", by="x")
        await sealing.wait()
        await stage.until_status("A", "done", "waits")
        [fired] = [event for event in await stage.events("waits") if event["type"] == "TimerFired"]
        assert fired["event"] == "timer"


@pytest.mark.parametrize(
    "when", [{"Seconds": 0}, {"Seconds": 2}, {"Timestamp": "2020-01-01T00:00:00Z"}]
)
@staged
async def test_a_worker_looks_at_what_it_lets_wait_when_that_is_due(
    when: dict[str, Any], stage: Stage
) -> None:
    stage.worker(sweep_s=600)
    await asyncio.sleep(1)
    await stage.submit(flow(A={"Type": "Wait", **when}))
    assert (await stage.end(within_s=60)).status == "succeeded"


@staged
async def test_a_worker_looks_at_what_it_tries_again_when_that_is_due(stage: Stage) -> None:
    calls = Calls(lambda given: given if calls.count > 2 else RuntimeError("not yet"))
    stage.worker({"work": calls}, sweep_s=600)
    await asyncio.sleep(1)
    await stage.submit(flow(A=task(**retry(IntervalSeconds=1))))
    assert (await stage.end(within_s=60)).status == "succeeded"


class Slow:
    """A twin that answers a claim 2 s after it was served."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.claimed: list[float] = []
        self.command, self.close = stage.twin.command, stage.twin.close

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        answer = await self._stage.twin.run(script, keys, args)
        if script.name == "claim":
            self.claimed.append(self._stage.loop.now)
            await asyncio.sleep(2)
        return answer


@staged
async def test_what_was_begun_to_wait_during_a_sweep_is_looked_at_when_it_is_due(
    stage: Stage,
) -> None:
    slow = Slow(stage)
    queue = HintQueue(stage.twin, pool="default", consumer="w1")
    looking = sweeper.Sweeper("w1", Store(slow), queue, now=stage.loop.time, every_s=600)
    sweeping = asyncio.create_task(looking.run())
    await asyncio.sleep(1)
    looking.look_in(9)
    looking.look_in(20)
    await asyncio.sleep(13)
    # The first of two moments is the one that counts, and a later one does not put it off.
    assert slow.claimed == [0, 10]
    await stop(sweeping)


@staged
async def test_work_that_waits_goes_before_the_sealing_of_what_ended(stage: Stage) -> None:
    with sealing_without_end() as sealing:
        stage.worker(concurrency=1)
        await stage.submit({"StartAt": "A", "States": {"A": passing(End=True)}}, run="first")
        await sealing.wait()
        await stage.submit({"StartAt": "A", "States": {"A": passing(End=True)}}, run="second")
        assert (await stage.end("second")).status == "succeeded"


@staged
async def test_a_worker_that_drains_seals_what_ended_on_it(stage: Stage) -> None:
    worker = stage.worker()
    held = asyncio.Event()
    finalize = sweeper.finalize

    async def slow(store: Any, workflow_id: str, *, by: str) -> dict[str, Any]:
        await held.wait()
        return await finalize(store, workflow_id, by=by)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeper, "finalize", slow)
        names = ["r-0", "r-1", "r-2"]
        for name in names:
            await stage.submit({"StartAt": "A", "States": {"A": passing(End=True)}}, run=name)
            await stage.end(name)
        assert not any([(await stage.store.run(name)).finalized_at for name in names])
        stage.loop.call_later(1, held.set)
        await stage.leave(worker)
    assert all([(await stage.store.run(name)).finalized_at for name in names])


async def half_removed(stage: Stage, *names: str) -> None:
    """Runs that are over and sealed, and whose remover died."""
    for name in names:
        await stage.submit({"StartAt": "A", "States": {"A": passing(End=True)}}, run=name)
        await stage.end(name)

        async def marked(name: str = name) -> bool:
            request = {"born": (await stage.store.run(name)).born, "mark": True}
            answer = await stage.store.call("gc", name, request, extra=["cp:wf:done"])
            return bool(answer[0] == "more")

        await stage.until(marked)


@contextmanager
def removing_without_end() -> Iterator[asyncio.Event]:
    """No run is ever removed; set as soon as a worker tries."""
    removing = asyncio.Event()

    async def endless(_store: Store, _workflow_id: str, **_options: bool) -> None:
        removing.set()
        await asyncio.Event().wait()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "remove", endless)
        yield removing


@staged
async def test_a_timer_fires_in_time_while_a_run_is_removed_that_takes_long(stage: Stage) -> None:
    with removing_without_end() as removing:
        stage.worker()
        await half_removed(stage, "half")
        await removing.wait()
        short = {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 30, "End": True}}}
        began = stage.loop.now
        await stage.submit(short, run="waits")
        assert (await stage.end("waits")).status == "succeeded"
        assert stage.loop.now - began < 31


@staged
async def test_what_a_worker_that_drains_leaves_half_removed_another_one_removes(
    stage: Stage,
) -> None:
    with removing_without_end() as removing:
        worker = stage.worker()
        await half_removed(stage, "half-1", "half-2")
        await removing.wait()
        began = stage.loop.now
        await stage.leave(worker)
        assert stage.loop.now - began < 1
    stage.worker(name="w2")

    async def gone() -> bool:
        return not await stage.store.backend.command("KEYS", "*half*")

    await stage.until(gone)


@staged
async def test_a_worker_removes_the_rest_of_a_run_whose_remover_died(stage: Stage) -> None:
    stage.worker()
    await half_removed(stage, "half")
    assert await stage.store.redrive("half", again=["A"], resume=[]) == Refusal(
        "not_failed", ("removing",)
    )

    async def gone() -> bool:
        return not await stage.store.backend.command("KEYS", "*half*")

    await stage.until(gone, within_s=120)
