"""One step of each state type: what it asks its caller to do."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import enter, machine_of, parsed, react, visit_of

from dcf.asl import (
    ChildFailed,
    Entered,
    EvaluationError,
    Failure,
    FanOut,
    Finish,
    Joined,
    ResultRefused,
    RunTask,
    TaskSucceeded,
    TimerFired,
    Transition,
    UnexpectedEvent,
    WaitFor,
    WaitUntil,
    item_input,
    step,
)

INNER = {"StartAt": "Inner", "States": {"Inner": {"Type": "Succeed"}}}
MAP = {"Type": "Map", "ItemProcessor": INNER}


def test_a_task_asks_for_its_work_with_its_time_limits() -> None:
    state = {"Type": "Task", "Resource": "r", "TimeoutSeconds": 300, "HeartbeatSeconds": 60}

    assert enter(state, {"a": 1}) == RunTask({"a": 1}, 300.0, 60.0)


def test_a_task_without_limits_has_none() -> None:
    assert enter({"Type": "Task", "Resource": "r"}, 1) == RunTask(1, None, None)


def test_a_task_goes_on_with_its_result() -> None:
    state = {"Type": "Task", "Resource": "r"}

    assert react(state, {"in": 1}, TaskSucceeded([2])) == Transition("Next", [2], {})


def test_an_ending_state_finishes_its_machine() -> None:
    from dcf.asl import parse

    machine = parse({"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}})

    assert step(machine.states["P"], visit_of(5), Entered()) == Finish(5, {})


def test_succeed_gives_its_input_through_its_paths() -> None:
    state = {"Type": "Succeed", "InputPath": "$.a", "OutputPath": "$.b"}

    assert enter(state, {"a": {"b": 1}}) == Finish(1, {})


@pytest.mark.parametrize(
    ("fields", "failure"),
    [
        ({"Error": "E", "Cause": "C"}, Failure("E", "C")),
        ({}, Failure(None, None)),
        ({"ErrorPath": "$.e", "CausePath": "$$.State.Name"}, Failure("Oops", "S")),
        (
            {"Error": "E", "CausePath": "States.Format('{} happened', $.e)"},
            Failure("E", "Oops happened"),
        ),
    ],
)
def test_fail_fails_with_its_error_and_cause(fields: dict[str, Any], failure: Failure) -> None:
    assert enter({"Type": "Fail", **fields}, {"e": "Oops"}) == failure


@pytest.mark.parametrize("path", ["$.missing", "$.number"])
def test_an_error_path_must_find_a_string(path: str) -> None:
    assert enter({"Type": "Fail", "ErrorPath": path}, {"number": 1}).error == "States.Runtime"


@pytest.mark.parametrize(
    ("fields", "effect"),
    [
        ({"Seconds": 10}, WaitFor(10.0)),
        ({"Seconds": 0}, WaitFor(0.0)),
        ({"SecondsPath": "$.s"}, WaitFor(7.0)),
        ({"Timestamp": "1970-01-01T00:01:40Z"}, WaitUntil(100.0)),
        ({"TimestampPath": "$.t"}, WaitUntil(3600.0)),  # state-wait.html: without milliseconds
        ({"Timestamp": "1970-01-01T00:01:40.999Z"}, WaitUntil(100.0)),
    ],
)
def test_a_wait_asks_for_its_timer(fields: dict[str, Any], effect: object) -> None:
    data = {"s": 7, "t": "1970-01-01T02:00:00.500+01:00"}

    assert enter({"Type": "Wait", **fields}, data) == effect


@pytest.mark.parametrize(
    "fields",
    [
        {"SecondsPath": "$.missing"},
        {"SecondsPath": "$.text"},
        {"SecondsPath": "$.negative"},
        {"SecondsPath": "$.flag"},
        {"TimestampPath": "$.text"},
        {"TimestampPath": "$.local"},
    ],
)
def test_a_wait_that_finds_no_time_is_a_runtime_error(fields: dict[str, Any]) -> None:
    data = {"text": "soon", "negative": -1, "flag": True, "local": "2024-01-01T00:00:00"}

    assert enter({"Type": "Wait", **fields}, data).error == "States.Runtime"


def test_a_wait_of_more_than_68_years_is_a_runtime_error() -> None:
    context = {"State": {"Name": "S", "EnteredTime": "2026-01-01T00:00:00.000Z"}}
    state = {"Type": "Wait", "Timestamp": "2200-01-01T00:00:00Z"}

    assert enter(state, {}, context).error == "States.Runtime"


def test_after_its_timer_a_wait_passes_its_input_on() -> None:
    state = {"Type": "Wait", "Seconds": 1, "InputPath": "$.a", "OutputPath": "$.b"}

    assert react(state, {"a": {"b": 1}}, TimerFired()) == Transition("Next", 1, {})


def test_a_parallel_gives_every_branch_the_same_arguments() -> None:
    other = {"StartAt": "Other", "States": {"Other": {"Type": "Succeed"}}}
    state = {"Type": "Parallel", "Branches": [INNER, other], "Parameters": {"n.$": "$.a"}}

    assert enter(state, {"a": 1}) == FanOut(2, None, {"n": 1}, 0)


def test_a_parallel_joins_results_in_the_order_of_branches() -> None:
    state = {"Type": "Parallel", "Branches": [INNER], "ResultPath": "$.r"}

    assert react(state, {"a": 1}, Joined([[1], 2])).output == {"a": 1, "r": [[1], 2]}


def test_a_map_fans_out_over_its_items() -> None:
    state = {**MAP, "InputPath": "$.in", "ItemsPath": "$.list", "MaxConcurrency": 3}
    data = {"in": {"list": [1, 2]}}

    assert enter(state, data) == FanOut(2, [1, 2], {"list": [1, 2]}, 3)


def test_a_map_takes_its_input_as_items_by_default() -> None:
    assert enter(MAP, ["a"]) == FanOut(1, ["a"], ["a"], 0)


def test_a_map_over_no_items_fans_out_to_nothing() -> None:
    assert enter(MAP, []).count == 0


@pytest.mark.parametrize("data", [{"list": {}}, {}, 3])
def test_a_map_over_something_else_is_a_runtime_error(data: object) -> None:
    assert enter({**MAP, "ItemsPath": "$.list"}, data).error == "States.Runtime"


def test_an_iteration_gets_its_item_unless_a_selector_shapes_it() -> None:
    assert item_input(parsed(MAP), visit_of([7]), 0, 7) == 7


@pytest.mark.parametrize("field", ["ItemSelector", "Parameters"])
def test_a_selector_sees_the_item_and_the_effective_input_of_the_map(field: str) -> None:
    selector = {
        "value.$": "$$.Map.Item.Value",
        "index.$": "$$.Map.Item.Index",
        "from.$": "$.name",
        "fixed": 1,
    }
    state = parsed({**MAP, "InputPath": "$.in", "ItemsPath": "$.list", field: selector})
    visit = visit_of({"in": {"name": "n", "list": ["x", "y"]}})

    assert item_input(state, visit, 1, "y") == {
        "value": "y",
        "index": 1,
        "from": "n",
        "fixed": 1,
    }
    assert "Map" not in visit.context


def test_a_selector_that_cannot_be_evaluated_raises_its_error() -> None:
    state = parsed({**MAP, "ItemSelector": {"v.$": "$.missing"}})

    with pytest.raises(EvaluationError) as caught:
        item_input(state, visit_of([1]), 0, 1)

    assert caught.value.error == "States.Runtime"


def test_an_uncaught_child_failure_fails_the_parent() -> None:
    assert react(MAP, [1], ChildFailed("E", "C")) == Failure("E", "C")


@pytest.mark.parametrize("kind", ["Pass", "Wait", "Succeed"])
def test_a_result_that_cannot_be_kept_fails_a_state_that_catches_nothing(kind: str) -> None:
    state = {"Type": kind, **({"Seconds": 1} if kind == "Wait" else {})}

    assert react(state, {}, ResultRefused("E", "c")) == Failure("E", "c")


def test_a_result_that_cannot_be_kept_is_caught_by_its_own_error() -> None:
    processor = {
        **machine_of(P={"Type": "Pass", "End": True}),
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    }
    catch = [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "Next"}]
    state = {"Type": "Map", "ItemProcessor": processor, "Catch": catch}

    effect = react(state, [1], ResultRefused("States.DataLimitExceeded", "too large"))

    assert effect.output == {"Error": "States.DataLimitExceeded", "Cause": "too large"}


def test_an_event_that_a_state_never_waits_for_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UnexpectedEvent, match="Pass"):
        react({"Type": "Pass"}, {}, TimerFired())


def test_a_payload_too_deep_to_follow_is_a_runtime_error() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]

    effect = enter({"Type": "Pass", "Parameters": {"v.$": "States.JsonToString($)"}}, deep)

    assert effect.error == "States.Runtime"
