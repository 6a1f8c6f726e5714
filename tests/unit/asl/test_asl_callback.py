"""Tasks whose answer comes from elsewhere: task tokens, heartbeats and time limits."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import enter, machine_of, parsed, react, run, visit_of

from dcf.asl import (
    Answer,
    Failure,
    RunTask,
    TaskCall,
    TaskFailed,
    TaskSucceeded,
    VirtualClock,
    time_limits,
)

CALLBACK = {
    "Type": "Task",
    "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken",
    "Parameters": {"token.$": "$$.Task.Token"},
}
TASK = {"Type": "Task", "Resource": "work"}


def test_a_callback_task_says_that_it_waits_for_its_token() -> None:
    effect = enter(CALLBACK, {}, {"Task": {"Token": "secret"}})

    assert effect == RunTask({"token": "secret"}, None, None, True)


def test_jsonata_reads_the_token_too() -> None:
    state = {
        "Type": "Task",
        "QueryLanguage": "JSONata",
        "Resource": CALLBACK["Resource"],
        "Arguments": "{% $states.context.Task.Token %}",
    }

    assert enter(state, {}, {"Task": {"Token": "secret"}}).arguments == "secret"


def test_the_interpreter_gives_every_try_a_token_of_its_own() -> None:
    calls: list[TaskCall] = []

    def answer(call: TaskCall) -> TaskSucceeded | TaskFailed:
        calls.append(call)
        return TaskSucceeded("ok") if len(calls) > 1 else TaskFailed("E", "")

    definition = machine_of(A={**CALLBACK, "Retry": [{"ErrorEquals": ["E"]}], "End": True})

    assert run(definition, {}, call_task=answer).output == "ok"
    assert all(call.token and call.arguments == {"token": call.token} for call in calls)
    assert calls[0].token != calls[1].token


def test_other_tasks_have_no_token() -> None:
    calls: list[TaskCall] = []

    def answer(call: TaskCall) -> TaskSucceeded:
        calls.append(call)
        return TaskSucceeded(None)

    run(machine_of(A={**TASK, "End": True}), {}, call_task=answer)

    assert calls[0].token is None
    assert enter({**TASK, "Parameters": {"t.$": "$$.Task.Token"}}, {}).error == "States.Runtime"


def test_limits_may_come_from_the_input() -> None:
    state = {**TASK, "TimeoutSecondsPath": "$.t", "HeartbeatSecondsPath": "$.h"}

    assert enter(state, {"t": 60, "h": 5}) == RunTask({"t": 60, "h": 5}, 60.0, 5.0)


def test_time_limits_tells_them_without_a_step() -> None:
    state = parsed({**TASK, "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 5})

    assert time_limits(state, visit_of({"t": 60})) == (60.0, 5.0)
    assert time_limits(parsed(TASK), visit_of({})) == (None, None)
    assert time_limits(parsed({"Type": "Pass"}), visit_of({})) == (None, None)


def test_time_limits_that_cannot_be_evaluated_are_left_to_the_step() -> None:
    state = {**TASK, "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 5}

    assert time_limits(parsed(state), visit_of({"t": "soon"})) == (None, None)
    assert enter(state, {"t": "soon"}).error == "States.Runtime"


def test_time_limits_see_the_effective_input() -> None:
    state = parsed({**TASK, "InputPath": "$.a", "TimeoutSecondsPath": "$.t"})

    assert time_limits(state, visit_of({"a": {"t": 7}})) == (7.0, None)


@pytest.mark.parametrize(
    ("beats", "seconds"), [((), 10.0), ((8.0, 16.0), 26.0), ((8.0, 30.0), 18.0)]
)
def test_the_first_missing_heartbeat_ends_the_task(
    beats: tuple[float, ...], seconds: float
) -> None:
    clock = VirtualClock()
    definition = machine_of(A={**TASK, "HeartbeatSeconds": 10, "End": True})

    run(definition, {}, clock=clock, call_task=lambda _: Answer(None, heartbeats_s=beats))

    assert clock.now == seconds


@pytest.mark.parametrize("names", [["States.HeartbeatTimeout"], ["States.Timeout"], ["States.ALL"]])
def test_a_missed_heartbeat_is_caught_by_either_name(names: list[str]) -> None:
    catch = [{"ErrorEquals": names, "Next": "Next"}]

    effect = react({**TASK, "Catch": catch}, {}, TaskFailed("States.HeartbeatTimeout", None))

    assert effect.output == {"Error": "States.HeartbeatTimeout", "Cause": ""}


def test_a_missed_heartbeat_that_nothing_catches_is_a_timeout() -> None:
    effect = react(TASK, {}, TaskFailed("States.HeartbeatTimeout", None))

    assert effect == Failure("States.Timeout", None)


def test_credentials_are_evaluated() -> None:
    state: dict[str, Any] = {**TASK, "Credentials": {"RoleArn.$": "$.role"}}

    assert enter(state, {"role": "arn"}) == RunTask({"role": "arn"}, None, None)
    assert enter(state, {}).error == "States.Runtime"
