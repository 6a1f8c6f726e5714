"""Causes: where a failure befell, by the numbers of Step Functions' own history."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import echo, enter, machine_of, run, visit_of

from dcf.asl import Entered, Failure, TaskFailed, parse, step

BAD = {"Type": "Pass", "Parameters": {"v.$": "$.nothing"}, "End": True}
PASS = {"Type": "Pass", "Next": "Bad"}


def entered_at(cause: str | None) -> int:
    """The number in ``(entered at the event id #N)``."""
    assert cause is not None
    return int(cause.partition("#")[2].partition(")")[0])


def test_a_cause_names_the_state_and_its_event() -> None:
    state = parse(machine_of(S=BAD)).states["S"]

    effect = step(state, visit_of({}, entered_event=12), Entered())

    assert isinstance(effect, Failure) and effect.cause is not None
    assert effect.cause.startswith(
        "An error occurred while executing the state 'S' (entered at the event id #12). "
    )


def test_without_a_number_a_cause_names_the_state_alone() -> None:
    effect = enter({"Type": "Pass", "Parameters": {"v.$": "$.nothing"}}, {})

    assert effect.cause.startswith("An error occurred while executing the state 'S'. ")


def test_the_causes_of_work_are_left_alone() -> None:
    definition = machine_of(A={"Type": "Task", "Resource": "r", "End": True})

    execution = run(definition, {}, call_task=lambda _: TaskFailed("E", "my cause"))

    assert execution.cause == "my cause"


def task(resource: str, **fields: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": resource, "Next": "Bad", **fields}


INNER = machine_of(P={"Type": "Pass", "End": True})


@pytest.mark.parametrize(
    ("before", "number"),
    [
        # ExecutionStarted, PassStateEntered, PassStateExited, PassStateEntered
        (PASS, 4),
        # …, TaskStateEntered, scheduled, started, succeeded, TaskStateExited, …
        (task("arn:aws:lambda:r:1:function:f"), 7),
        (task("arn:aws:states:::lambda:invoke"), 7),
        (task("arn:aws:states:r:1:activity:a"), 7),
        # … and TaskSubmitted
        (task("arn:aws:states:::sqs:sendMessage.waitForTaskToken"), 8),
        (task("arn:aws:states:::states:startExecution.sync:2"), 8),
        # …, MapStateEntered, MapStateStarted, twice started, entered, exited, succeeded,
        # MapStateSucceeded, MapStateExited, …
        ({"Type": "Map", "ItemProcessor": INNER, "ItemsPath": "$.xs", "Next": "Bad"}, 14),
        # …, ParallelStateEntered, ParallelStateStarted, entered, exited, ParallelStateSucceeded, …
        ({"Type": "Parallel", "Branches": [INNER], "Next": "Bad"}, 8),
        # …, MapStateStarted, MapRunStarted, MapRunSucceeded, MapStateSucceeded, …
        (
            {
                "Type": "Map",
                "ItemProcessor": {
                    **INNER,
                    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                },
                "ItemsPath": "$.xs",
                "Next": "Bad",
            },
            8,
        ),
        ({"Type": "Wait", "Seconds": 1, "Next": "Bad"}, 4),
    ],
)
def test_events_are_counted_as_step_functions_writes_them(
    before: dict[str, Any], number: int
) -> None:
    execution = run(machine_of(A=before, Bad=BAD), {"xs": [1, 2]})

    assert entered_at(execution.cause) == number


def test_each_try_of_a_task_has_its_events() -> None:
    calls: list[Any] = []

    def flaky(call: Any) -> Any:
        calls.append(call)
        return TaskFailed("E", "") if len(calls) < 3 else echo(call)

    retry = [{"ErrorEquals": ["E"]}]
    definition = machine_of(A=task("arn:aws:states:::lambda:invoke", Retry=retry), Bad=BAD)

    assert entered_at(run(definition, {}, call_task=flaky).cause) == 13


def test_an_iteration_of_a_distributed_map_counts_for_itself() -> None:
    inner = {
        **machine_of(A=PASS, Bad=BAD),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    state = {
        "Type": "Map",
        "ItemProcessor": inner,
        "ToleratedFailurePercentage": 100,
        "End": True,
    }

    execution = run(machine_of(Before={"Type": "Pass", "Next": "M"}, M=state), [{}])

    assert entered_at(execution.output[0]["Cause"]) == 4


def test_numbers_can_be_left_out() -> None:
    execution = run(machine_of(A=BAD), {}, count_events=False)

    assert execution.cause is not None
    assert execution.cause.startswith("An error occurred while executing the state 'A'. ")


def test_a_choice_that_leads_nowhere_says_so() -> None:
    rule = {"Variable": "$.a", "IsPresent": True, "Next": "B"}
    definition = machine_of(
        A={"Type": "Choice", "Choices": [rule]}, B={"Type": "Pass", "End": True}
    )

    execution = run(definition, {})

    assert execution.error == "States.Runtime"
    assert execution.cause is not None
    assert execution.cause.endswith(
        ". Failed to transition out of the state. The state does not point to a next state."
    )


def test_a_wait_longer_than_68_years_says_so() -> None:
    definition = machine_of(A={"Type": "Wait", "SecondsPath": "$.s", "End": True})

    execution = run(definition, {"s": 2**31})

    assert execution.cause is not None
    assert execution.cause.endswith(". Wait state delay is too long.")


@pytest.mark.parametrize(
    ("fields", "data", "detail"),
    [
        (
            {"SecondsPath": "$.a.b"},
            {},
            "The SecondsPath parameter does not reference an input value: $.a.b",
        ),
        (
            {"TimestampPath": "$.at"},
            {"at": "noon"},
            "The TimestampPath parameter does not reference a valid ISO-8601 extended offset "
            "date-time format string: $.at == noon",
        ),
    ],
)
def test_a_wait_without_a_time_says_where_it_looked(
    fields: dict[str, str], data: Any, detail: str
) -> None:
    assert enter({"Type": "Wait", **fields}, data).cause.endswith(f". {detail}")


def test_a_result_too_large_names_its_state() -> None:
    definition = machine_of(A={"Type": "Task", "Resource": "r", "ResultPath": None, "End": True})

    execution = run(definition, {"a": "x" * 262_144}, aws_limits=True)

    assert execution.error == "States.DataLimitExceeded"
    assert execution.cause is not None and "'A'" in execution.cause


@pytest.mark.parametrize(
    ("state", "done"),
    [
        ({"Type": "Pass", "Parameters": {"b.$": "$.a"}}, "returned a result"),
        ({"Type": "Pass", "Assign": {"b.$": "$.a"}, "OutputPath": None}, "assigned variables"),
        ({"Type": "Task", "Resource": "r"}, "created an input"),
    ],
)
def test_what_is_too_large_is_told(state: dict[str, Any], done: str) -> None:
    definition = machine_of(A={**state, "End": True})

    execution = run(definition, {"a": "x" * 262_144}, aws_limits=True)

    assert (execution.error, execution.cause) == (
        "States.DataLimitExceeded",
        f"The state/task 'A' {done} with a size exceeding the maximum number of bytes service "
        "limit.",
    )


RAISING = machine_of(F={"Type": "Fail", "Error": "E"})
WORKING = machine_of(T={"Type": "Task", "Resource": "r", "End": True})
BROKEN = {"Type": "Task", "Resource": "r", "QueryLanguage": "JSONata", "Arguments": "{% $nope %}"}
RETRY = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 1}]
CATCH = [{"ErrorEquals": ["States.ALL"], "Next": "Bad"}]


@pytest.mark.parametrize(
    ("state", "number"),
    [
        # ParallelStateEntered, started, FailStateEntered, started, FailStateEntered,
        # ParallelStateFailed, ParallelStateExited
        ({"Type": "Parallel", "Branches": [RAISING]}, 9),
        # …, MapStateStarted, MapIterationStarted, FailStateEntered, MapIterationFailed, the same
        # three again, MapStateFailed, MapStateExited
        ({"Type": "Map", "ItemProcessor": RAISING}, 13),
        # …, TaskStateEntered, scheduled, started, failed, TaskStateAborted, …
        ({"Type": "Parallel", "Branches": [WORKING]}, 16),
        # TaskStateEntered, EvaluationFailed, EvaluationFailed, TaskStateExited
        (BROKEN, 6),
        # MapStateEntered, EvaluationFailed, EvaluationFailed, MapStateFailed, MapStateExited
        (
            {
                "Type": "Map",
                "QueryLanguage": "JSONata",
                "Items": "{% $nope %}",
                "ItemProcessor": INNER,
            },
            7,
        ),
    ],
)
def test_a_retry_does_not_tell_that_the_state_failed(state: dict[str, Any], number: int) -> None:
    definition = machine_of(A={**state, "Retry": RETRY, "Catch": CATCH, "End": True}, Bad=BAD)

    execution = run(definition, [1], call_task=lambda _: TaskFailed("E", ""))

    assert entered_at(execution.cause) == number
