"""Choreography: what a failed try leads to, and what its handler is told."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

from unit.workflow.choreography_samples import echo, ended, failing
from unit.workflow.stage import (
    RUN,
    Calls,
    Stage,
    catch,
    flow,
    passing,
    retry,
    staged,
    task,
)

from control_plane import Failure
from dcf.worker import TaskFailure, current_work


@staged
async def test_retries_are_counted_and_delayed_as_the_retrier_says(stage: Stage) -> None:
    started: list[float] = []

    async def work(_given: Any) -> None:
        started.append(stage.loop.now)
        raise TaskFailure("Flaky", "")

    policy = retry("Flaky", IntervalSeconds=2, BackoffRate=3, MaxAttempts=3, MaxDelaySeconds=10)
    result = await stage.play(flow(A=task(**policy)), None, {"work": work})
    assert ended(result) == ("failed", "Flaky")
    gaps = [later - sooner for sooner, later in pairwise(started)]
    assert [round(gap) for gap in gaps] == [2, 6, 10]
    assert all(gap > wanted - 0.001 for gap, wanted in zip(gaps, [2, 6, 10], strict=True))


@staged
async def test_a_task_that_works_again_goes_on(stage: Stage) -> None:
    work = failing("Flaky", times=2)
    result = await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert ended(result) == ("succeeded", "ok")
    assert work.count == 3


@staged
async def test_another_error_is_not_retried(stage: Stage) -> None:
    work = failing("Other", times=9)
    result = await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert ended(result) == ("failed", "Other")
    assert work.count == 1


@staged
async def test_the_first_catcher_that_matches_is_taken(stage: Stage) -> None:
    catchers = [
        {"ErrorEquals": ["Other"], "Next": "Wrong"},
        {"ErrorEquals": ["Boom"], "Next": "Right", "ResultPath": "$.error"},
        {"ErrorEquals": ["States.ALL"], "Next": "Wrong"},
    ]
    definition = flow(
        A=task(Catch=catchers, End=True), Right=passing(End=True), Wrong={"Type": "Fail"}
    )
    result = await stage.play(definition, {"n": 1}, {"work": failing("Boom", times=1)})
    problem = {"Error": "Boom", "Cause": "as planned"}
    assert ended(result) == ("succeeded", {"n": 1, "error": problem})


@staged
async def test_what_was_caught_stays_with_the_state_and_in_the_history(stage: Stage) -> None:
    definition = flow(A=task(**catch("B")), B=passing())
    await stage.play(definition, 1, {"work": failing("Boom", times=1)})
    state = await stage.state("A")
    assert state.status == "done"
    assert state.error == Failure("Boom", "as planned")
    assert [event["caught"] for event in await stage.events() if "caught" in event] == ["Boom"]


@staged
async def test_what_a_task_was_given_is_kept_beside_its_raw_input(stage: Stage) -> None:
    definition = flow(A=task(InputPath="$.order", Parameters={"id.$": "$.n"}), B=task())
    await stage.play(definition, {"order": {"n": 7}}, {"work": echo})
    state = await stage.state("A")
    assert (state.input, state.raw["effective_input"]) == ({"order": {"n": 7}}, {"id": 7})
    assert "effective_input" not in (await stage.state("B")).raw


@staged
async def test_a_handler_knows_the_key_of_its_try(stage: Stage) -> None:
    keys: list[str] = []

    async def work(_given: Any) -> Any:
        keys.append(current_work().idempotency_key)
        if len(keys) == 1:
            raise TaskFailure("Flaky", "")
        return None

    await stage.play(flow(A=task(**retry("Flaky"))), None, {"work": work})
    assert keys == [f"{RUN}/A/1/1", f"{RUN}/A/1/2"]


@staged
async def test_a_beat_of_a_handler_keeps_its_heartbeat(stage: Stage) -> None:
    async def work(_given: Any) -> Any:
        for _ in range(10):
            await asyncio.sleep(2)
            current_work().beat()
        return "done"

    result = await stage.play(
        flow(A=task(HeartbeatSeconds=3, TimeoutSeconds=60)), None, {"work": work}
    )
    assert ended(result) == ("succeeded", "done")


@staged
async def test_retries_are_spent_before_a_catcher_is_asked(stage: Stage) -> None:
    work = failing("Boom", times=9)
    policy = retry("Boom", MaxAttempts=2) | catch("B")
    result = await stage.play(flow(A=task(**policy), B=passing(Result=1)), None, {"work": work})
    assert ended(result) == ("succeeded", 1)
    assert work.count == 3


@staged
async def test_an_exception_of_a_handler_is_states_task_failed(stage: Stage) -> None:
    work = Calls(lambda _: ValueError("no such order"))
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert result.failure
    assert (result.failure.error, result.failure.cause) == (
        "States.TaskFailed",
        "ValueError: no such order",
    )


@staged
async def test_work_that_cancels_itself_fails_its_task(stage: Stage) -> None:
    work = Calls(lambda _: asyncio.CancelledError())
    result = await stage.play(flow(A=task()), None, {"work": work})
    assert ended(result) == ("failed", "States.TaskFailed")
    assert work.count == 1


@staged
async def test_a_resource_that_nobody_serves_is_no_handler(stage: Stage) -> None:
    result = await stage.play(flow(A=task("mill")), None, {"work": echo})
    assert result.failure
    assert result.failure.error == "DCF.NoHandler"
    assert "'mill'" in result.failure.cause and "work" in result.failure.cause
