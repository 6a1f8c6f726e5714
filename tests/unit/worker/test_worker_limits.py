"""Time limits, lost workers and draining, on the twin and on virtual time."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    mapping,
    parallel,
    passing,
    retry,
    staged,
    task,
)

from control_plane import Disconnected, keys
from dcf.worker import LeaseKeeper
from dcf.workflow import Failed, Succeeded


class Hanging:
    """Work that does not end by itself; when each call began, and when it was cancelled."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.began: list[float] = []
        self.cancelled: list[float] = []

    async def __call__(self, _given: Any) -> Any:
        self.began.append(self._stage.loop.now)
        try:
            await asyncio.sleep(100_000)
        except asyncio.CancelledError:
            self.cancelled.append(self._stage.loop.now)
            raise


BINDING = {"AgentBinding": {"agent_template_ref": {"name": "any"}, "skills": []}}


class BeatingAgents:
    """Works for ``seconds``, and says each second that it does, for the first ``beats`` of them."""

    def __init__(self, seconds: int, beats: int) -> None:
        self._seconds, self._beats = seconds, beats
        self.keys: list[str] = []

    async def perform(self, task: Any, beat: Any) -> Succeeded | Failed:
        self.keys.append(task.lease.idempotency_key)
        for second in range(self._seconds):
            if second < self._beats:
                beat()
            await asyncio.sleep(1)
        return Succeeded("done")


# -- limits --------------------------------------------------------------------------------------


@staged
async def test_a_task_over_its_time_is_cancelled_and_fails_with_states_timeout(
    stage: Stage,
) -> None:
    hanging = Hanging(stage)
    definition = flow(A=task(TimeoutSeconds=4, **catch("B")), B=passing())
    result = await stage.play(definition, None, {"work": hanging})
    assert result.output["Error"] == "States.Timeout"
    (began,), (cancelled,) = hanging.began, hanging.cancelled
    assert 4 <= cancelled - began < 4.5
    assert result.finished_at and result.started_at
    assert 4000 <= result.finished_at - result.started_at < 4500


@staged
async def test_a_task_that_does_not_beat_fails_with_heartbeat_timeout(stage: Stage) -> None:
    hanging = Hanging(stage)
    definition = flow(A=task(HeartbeatSeconds=3, TimeoutSeconds=60, **catch("B")), B=passing())
    result = await stage.play(definition, None, {"work": hanging})
    assert result.output["Error"] == "States.HeartbeatTimeout"
    assert 3 <= hanging.cancelled[0] - hanging.began[0] < 3.5


@staged
async def test_beats_keep_a_heartbeat_alive(stage: Stage) -> None:
    definition = flow(A=task(HeartbeatSeconds=3, TimeoutSeconds=600, **BINDING))
    result = await stage.play(definition, agents=BeatingAgents(seconds=60, beats=60))
    assert result.output == "done"


@staged
async def test_beats_that_stop_are_noticed(stage: Stage) -> None:
    definition = flow(
        A=task(HeartbeatSeconds=3, TimeoutSeconds=600, **BINDING, **catch("B")), B=passing()
    )
    result = await stage.play(definition, agents=BeatingAgents(seconds=60, beats=10))
    assert result.output["Error"] == "States.HeartbeatTimeout"


@staged
async def test_each_try_has_its_own_time(stage: Stage) -> None:
    hanging = Hanging(stage)
    policy = retry("States.Timeout", MaxAttempts=1, IntervalSeconds=1)
    result = await stage.play(flow(A=task(TimeoutSeconds=4, **policy)), None, {"work": hanging})
    assert result.failure and result.failure.error == "States.Timeout"
    assert len(hanging.began) == 2
    assert 9 <= stage.loop.now < 10.5


@staged
async def test_a_limit_runs_on_through_a_takeover(stage: Stage) -> None:
    hanging = Hanging(stage)
    first = stage.worker({"work": hanging}, ttl_ms=3000)
    await stage.submit(flow(A=task(TimeoutSeconds=10)))
    await stage.until_status("A", "running")
    await stage.kill(first)
    stage.worker({"work": hanging}, name="w2", ttl_ms=3000)
    result = await stage.end()
    assert result.failure and result.failure.error == "States.Timeout"
    assert len(hanging.began) == 2
    assert result.finished_at and result.started_at
    assert 10_000 <= result.finished_at - result.started_at < 10_500


# -- lost workers --------------------------------------------------------------------------------


@staged
async def test_a_takeover_keeps_the_idempotency_key_and_a_retry_raises_its_try(
    stage: Stage,
) -> None:
    keys: list[str] = []

    class Agents:
        async def perform(self, given: Any, _beat: Any) -> Any:
            keys.append(given.lease.idempotency_key)
            if len(keys) == 1:
                await asyncio.sleep(100_000)
            return Failed("Flaky", "") if len(keys) == 2 else Succeeded(None)

    first = stage.worker(agents=Agents(), ttl_ms=1000)
    await stage.submit(flow(A=task(**BINDING, **retry("Flaky"))))
    await stage.until_status("A", "running")
    await stage.kill(first)
    stage.worker(agents=Agents(), name="w2", ttl_ms=1000)
    assert (await stage.end()).status == "succeeded"
    assert keys == [f"{RUN}/A/1/1", f"{RUN}/A/1/1", f"{RUN}/A/1/2"]
    assert (await stage.state("A")).attempts == 3


@pytest.mark.parametrize(
    "definition",
    [
        flow(A=task(**catch("B")), B=passing()),
        flow(A=parallel(flow(T=task("other"))) | catch("B"), B=passing()),
    ],
    ids=["task", "inside a join"],
)
@staged
async def test_a_state_that_three_workers_were_lost_with_fails_with_worker_lost(
    definition: dict[str, Any], stage: Stage
) -> None:
    hanging = Hanging(stage)
    await stage.submit(definition)

    async def taken_over(times: int) -> bool:
        return len(hanging.began) == times

    for number in range(3):
        worker = stage.worker({"work": hanging, "other": hanging}, name=f"w{number}", ttl_ms=1000)
        await stage.until(partial(taken_over, number + 1))
        await stage.kill(worker)
    stage.worker({"work": hanging, "other": hanging}, name="last", ttl_ms=1000)
    result = await stage.end()
    assert (result.status, result.output["Error"]) == ("succeeded", "DCF.WorkerLost")
    assert len(hanging.began) == 3


@staged
async def test_who_lost_its_lease_writes_nothing(stage: Stage) -> None:
    """Its renewals do not get through, its work ignores the cancellation and answers late."""
    answers: list[str] = []

    async def stubborn(_given: Any) -> str:
        if not answers:
            answers.append("late")
            try:
                await asyncio.sleep(100_000)
            except asyncio.CancelledError:
                await asyncio.sleep(20)
            return "late"
        answers.append("in time")
        return "in time"

    cut_off = stage.new_store()

    async def renew(*_: Any, **__: Any) -> Any:
        raise Disconnected("away")

    cut_off.renew = renew  # type: ignore[method-assign]
    keeper = LeaseKeeper(cut_off, now=stage.loop.time)
    stage.worker({"work": stubborn}, keeper=keeper, ttl_ms=3000)
    await stage.submit(flow(A=task()))
    result = await stage.end()
    before = _written(stage)
    await asyncio.sleep(60)
    assert result.output == "in time"
    assert answers == ["late", "in time"]
    assert _written(stage) == before


def _written(stage: Stage) -> dict[str, Any]:
    """What is stored, without what each sweep writes, how far the lists of runs are known to be
    complete, and the signs of life of a worker."""
    apart = {keys.ACCEPTED, keys.RUNS_FILLED, keys.reader("w1")}
    return {key: value for key, value in stage.twin.dump().items() if key not in apart}


@staged
async def test_cancelling_a_run_cancels_its_work_at_the_next_renewal(stage: Stage) -> None:
    hanging = Hanging(stage)
    stage.worker({"work": hanging}, ttl_ms=3000)
    await stage.submit(flow(A=task()))
    await stage.until_status("A", "running")
    at = stage.loop.now
    await stage.store.cancel(RUN, by="test")
    await asyncio.sleep(3)
    assert 0 <= hanging.cancelled[0] - at <= 1.25 + 0.01


# -- concurrency and draining --------------------------------------------------------------------


@staged
async def test_a_worker_has_no_more_in_work_than_its_concurrency(stage: Stage) -> None:
    now = most = 0

    async def work(_given: Any) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(1)
        now -= 1

    definition = flow(M=mapping(flow(T=task())))
    await stage.play(definition, list(range(20)), {"work": work}, concurrency=3)
    assert most == 3


@staged
async def test_a_draining_worker_finishes_what_it_has_and_takes_nothing_more(stage: Stage) -> None:
    async def work(_given: Any) -> str:
        await asyncio.sleep(5)
        return "done"

    calls = Calls()
    worker = stage.worker({"first": work, "second": calls})
    await stage.submit(flow(A=task("first"), B=task("second")))
    await stage.until_status("A", "running")
    await stage.leave(worker)
    assert (await stage.state("A")).status == "done"
    after = await stage.state("B")
    assert (after.status, after.takeovers, calls.count) == ("ready", 0, 0)


@staged
async def test_what_does_not_end_in_time_is_given_back_at_once(stage: Stage) -> None:
    hanging = Hanging(stage)
    worker = stage.worker({"work": hanging}, drain_s=2, ttl_ms=60_000)
    await stage.submit(flow(A=task()))
    await stage.until_status("A", "running")
    asked = stage.loop.now
    await stage.leave(worker)
    state = await stage.state("A")
    assert (state.status, state.takeovers, state.try_) == ("ready", 0, 1)
    assert len(hanging.cancelled) == 1
    assert stage.loop.now - asked == pytest.approx(2, abs=0.1)
    stage.worker({"work": Calls(lambda _: "again")}, name="w2")
    assert (await stage.end(within_s=1)).output == "again"


@staged
async def test_work_that_ignores_its_cancellation_does_not_hold_up_the_end(stage: Stage) -> None:
    async def deaf(_given: Any) -> None:
        while True:
            try:
                await asyncio.sleep(50)
                return
            except asyncio.CancelledError:
                continue

    worker = stage.worker({"work": deaf}, drain_s=1, ttl_ms=60_000)
    await stage.submit(flow(A=task()))
    await stage.until_status("A", "running")
    asked = stage.loop.now
    await stage.leave(worker)
    assert stage.loop.now - asked < 5
    assert await stage.status("A") == "ready"
    await asyncio.sleep(60)


# -- defects -------------------------------------------------------------------------------------


@staged
async def test_a_defect_in_one_state_stops_neither_the_worker_nor_other_runs(stage: Stage) -> None:
    stage.worker({"work": Calls(lambda n: n)}, ttl_ms=1000)
    await stage.submit(flow(A=task()), run="broken")
    await stage.submit(flow(A=task()), 7, run="sound")
    # The definition of one run is damaged under the worker's hands.
    run = await stage.store.run("broken")
    key = stage.store.keys("broken").blob(run.definition)
    await stage.twin.command("DEL", key)
    assert (await stage.end("sound")).output == 7


@staged
async def test_an_unexpected_exception_in_a_step_is_told_and_the_worker_goes_on(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dcf.workflow.stepping as stepping

    original = stepping.happened

    async def broken(store: Any, lease: Any, state: Any) -> Any:
        if lease.workflow_id == "broken":
            raise ZeroDivisionError("a defect")
        return await original(store, lease, state)

    monkeypatch.setattr(stepping, "happened", broken)
    stage.worker({"work": Calls(lambda n: n)})
    await stage.submit(flow(A=task()), run="broken")
    await stage.submit(flow(A=task()), 7, run="sound")
    assert (await stage.end("sound")).output == 7
    assert [type(defect) for defect in stage.defects] == [ZeroDivisionError]
    stage.defects.clear()


@staged
async def test_a_run_whose_history_is_damaged_keeps_no_other_from_its_end(stage: Stage) -> None:
    stage.worker({"work": Calls(lambda n: n)})
    for run in ("a-damaged", "b-sound"):
        await stage.submit(flow(W={"Type": "Wait", "Seconds": 2}), run=run)
    stream = stage.store.keys("a-damaged").history
    await stage.twin.command("XADD", stream, "*", "at", 1, "event", "{}", "digest", "forged")
    for run in ("a-damaged", "b-sound"):
        await stage.store.cancel(run, by="test")

    async def sealed() -> bool:
        return (await stage.store.run("b-sound")).finalized_at is not None

    await stage.until(sealed, within_s=5)
    assert (await stage.store.run("a-damaged")).finalized_at is None


@staged
async def test_a_finished_task_is_not_done_again_because_the_server_was_away(stage: Stage) -> None:
    """The commit is said again until the server hears it."""
    calls = Calls(lambda _: "once")
    store = stage.new_store()
    said = store.commit
    failures = [Disconnected("away")] * 3

    async def commit(*args: Any, **kwargs: Any) -> Any:
        if failures:
            raise failures.pop()
        return await said(*args, **kwargs)

    store.commit = commit  # type: ignore[method-assign]
    result = await stage.play(flow(A=task()), None, {"work": calls}, store=store)
    assert (result.output, calls.count) == ("once", 1)
