"""What the simulation has found once, told directly."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from control_plane import (
    INDEX,
    Disconnected,
    HintQueue,
    Lease,
    Refusal,
    Store,
    timers,
)
from control_plane.keys import queue
from control_plane.twin import Twin
from dcf.workflow import (
    Choreographer,
    Outcome,
    RunCache,
    Task,
    finalize,
    load,
    redrive,
    result,
    submit,
)

_RUN = "run"


class Clock:
    """Microseconds that move when told."""

    def __init__(self) -> None:
        self.now_us = 1_700_000_000_000_000

    def __call__(self) -> int:
        return self.now_us

    def pass_s(self, seconds: float) -> None:
        self.now_us += int(seconds * 1_000_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> Store:
    return Store(Twin(clock, strict_keys=False))


async def _no_work(task: Task) -> Outcome:
    raise AssertionError(f"{task.state.name} is no Task to be worked on")


async def _submit(store: Store, definition: dict[str, Any]) -> None:
    document = load(json.dumps(definition), file="found.asl.json")
    await submit(store, document, {"items": [1, 2]}, workflow_id=_RUN)


async def _acquire(store: Store, path: str) -> Lease:
    lease = await store.acquire(_RUN, path, owner="w", ttl_ms=1000, alone="here")
    assert isinstance(lease, Lease), lease
    return lease


async def _step(store: Store, path: str) -> None:
    """Lease ``path`` and do its step."""
    lease = await _acquire(store, path)
    run = await RunCache(store).get(_RUN, lease.incarnation)
    answer = await Choreographer(store, rng=random.Random(0)).advance(run, lease, _no_work)
    assert not isinstance(answer, Refusal)


async def _lose_three_workers(store: Store, clock: Clock, path: str) -> None:
    for _ in range(3):
        await _acquire(store, path)
        clock.pass_s(2)
        await timers.tick(store, _RUN)


_PASS = {"Type": "Pass", "End": True}
_INNER = {"StartAt": "In", "States": {"In": _PASS}}


@pytest.mark.parametrize(
    "state",
    [
        _PASS,
        {"Type": "Succeed"},
        {"Type": "Wait", "Seconds": 1, "End": True},
        {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": True, "Next": "B"}],
         "Default": "B"},
        {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": _INNER, "End": True},
        {"Type": "Parallel", "Branches": [_INNER], "End": True},
    ],
    ids=lambda state: str(state["Type"]),
)  # fmt: skip
async def test_a_state_that_kills_its_workers_fails_the_run_instead_of_living_for_ever(
    store: Store, clock: Clock, state: dict[str, Any]
) -> None:
    """Seed 31: no state but a Task could take the event `worker_lost`; workers broke on it."""
    states = {"A": state, "B": _PASS} if state["Type"] == "Choice" else {"A": state}
    await _submit(store, {"StartAt": "A", "States": states})
    await _lose_three_workers(store, clock, "A")
    await _step(store, "A")
    ended = await result(store, _RUN)
    assert ended.status == "failed"
    assert ended.failure is not None and ended.failure.error == "DCF.WorkerLost"


async def test_a_map_that_kills_its_workers_can_catch_it(store: Store, clock: Clock) -> None:
    catch = [{"ErrorEquals": ["DCF.WorkerLost"], "Next": "B"}]
    state = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": _INNER, "Catch": catch,
             "End": True}  # fmt: skip
    await _submit(store, {"StartAt": "A", "States": {"A": state, "B": _PASS}})
    await _lose_three_workers(store, clock, "A")
    await _step(store, "A")
    await _step(store, "B")
    assert (await result(store, _RUN)).status == "succeeded"


async def test_a_frame_that_kills_its_workers_fails_the_map(store: Store, clock: Clock) -> None:
    state = {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": _INNER, "End": True}
    await _submit(store, {"StartAt": "A", "States": {"A": state}})
    await _step(store, "A")
    await _lose_three_workers(store, clock, "A[0]")
    await _step(store, "A[0]")
    await _step(store, "A")
    ended = await result(store, _RUN)
    assert ended.failure is not None and ended.failure.error == "DCF.WorkerLost"


class CutOff:
    """A connection that breaks at a given command, after it took effect."""

    def __init__(self, twin: Twin, at: str) -> None:
        self._twin, self._at = twin, at

    async def run(self, *_: Any) -> Any:
        raise AssertionError("a queue runs no scripts")

    async def command(self, *args: str | int) -> Any:
        reply = await self._twin.command(*args)
        if args[0] == self._at:
            raise Disconnected
        return reply

    async def close(self) -> None:
        """Nothing to release."""


@pytest.mark.parametrize("last_heard", ["XACK", "XDEL"])
async def test_a_hint_whose_dropping_was_interrupted_does_not_stay_queued(
    clock: Clock, last_heard: str
) -> None:
    """Seed 42: acknowledged and then not deleted, an entry stayed in the stream for ever."""
    twin = Twin(clock, strict_keys=False)
    first = HintQueue(CutOff(twin, last_heard), pool="p", consumer="first")
    await first.open()
    await twin.command("XADD", queue("p"), "*", "workflow", "r", "path", "A")
    assert len(await first.read(1)) == 1
    clock.pass_s(61)
    with pytest.raises(Disconnected):
        await first.drop_stale()
    clock.pass_s(61)
    await HintQueue(twin, pool="p", consumer="second").drop_stale()
    assert await twin.command("XLEN", queue("p")) == 0
    assert (await twin.command("XPENDING", queue("p"), "workers"))[0] == 0


async def test_a_late_retire_does_not_take_a_redriven_run_out_of_the_index(store: Store) -> None:
    """Seed 743: who had finalized the end before a redrive retired the run after its next end,
    which nobody had finalized yet, and then nobody ever did."""
    await _submit(store, {"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": "E"}}})
    await _step(store, "A")
    await finalize(store, _RUN, by="first")
    await redrive(store, _RUN)
    await _step(store, "A")
    await store.retire(_RUN)
    assert await store.backend.command("ZSCORE", INDEX, _RUN) is not None
    swept = await timers.sweep(store)
    assert swept.over == [_RUN]
    await finalize(store, _RUN, by="second")
    assert await store.backend.command("ZSCORE", INDEX, _RUN) is None


async def test_a_redrive_that_was_planned_for_an_earlier_end_is_planned_anew(
    store: Store, clock: Clock
) -> None:
    """Two clients redrive a run; the slower one's plan names what is done by now. Taken at its
    word, it would let the run run with nothing to do."""
    states = {"A": {"Type": "Choice", "Choices": [{"Variable": "$.items", "IsPresent": True,
                                                   "Next": "B"}]},
              "B": {"Type": "Fail", "Error": "E"}}  # fmt: skip
    await _submit(store, {"StartAt": "A", "States": states})
    await store.cancel(_RUN, by="somebody")
    await store.close(_RUN)
    planned_for = (await store.run(_RUN)).finished_at
    clock.pass_s(1)
    await redrive(store, _RUN)
    await _step(store, "A")
    await _step(store, "B")
    refusal = await store.redrive(_RUN, again=["A"], resume=[], ended=planned_for)
    assert refusal is not None and refusal.code == "interrupted"
    assert (await redrive(store, _RUN)).again == ["B"]


class RedrivenMeanwhile(Store):
    """Between two calls of a finalization somebody redrives the run, and it succeeds."""

    is_first = True

    async def close(self, workflow_id: str) -> int:
        closed = await super().close(workflow_id)
        if self.is_first:
            self.is_first = False
            other = Store(self.backend)
            await redrive(other, workflow_id)
            await _step(other, "A")
        return closed


async def test_the_audit_of_a_run_redriven_meanwhile_says_how_it_ended_at_last(
    clock: Clock,
) -> None:
    """Seed 381: the record of a run that succeeded after a redrive said that it was cancelled."""
    twin = Twin(clock, strict_keys=False)
    await _submit(Store(twin), {"StartAt": "A", "States": {"A": _PASS}})
    await Store(twin).cancel(_RUN, by="somebody")
    audit = await finalize(RedrivenMeanwhile(twin), _RUN, by="worker")
    assert (await result(Store(twin), _RUN)).status == "succeeded"
    assert audit["final_status"] == "succeeded"
    assert audit["states"]["succeeded"] == 1
