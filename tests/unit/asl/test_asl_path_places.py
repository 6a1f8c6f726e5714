"""The interpreter does what the page of paths by place says, cell by cell."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from asl_builders import machine_of, run

from dcf.asl import Answer, TaskCall, TaskFailed, TaskSucceeded, VirtualClock, validate
from dcf.cli.reference_pages.path_places import (
    ABSENT,
    EMPTY,
    FAILS,
    NO_MATCH,
    NULL,
    OPERATORS,
    PLACES,
    PRESENT,
    VALUE,
    VALUES,
    WRITTEN,
    PathOperator,
    PathPlace,
)

LAMBDA = "arn:aws:states:::lambda:invoke"
_NEW_YEAR = ("2030-01-01T00:00:00Z", 1_893_456_000.0)
_LEAVES = {
    "ItemsPath": [7, 8],
    "TimestampPath": _NEW_YEAR[0],
    "ErrorPath": "Bad",
    "CausePath": "Bad",
    "ToleratedFailurePercentagePath": 50,
}
_CHILD = machine_of(In={"Type": "Pass", "End": True})
_WORK = machine_of(In={"Type": "Task", "Resource": LAMBDA, "End": True})
_DISTRIBUTED = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **_WORK}
_RESULT = "the result"
_FOUR = "$$.Execution.Input.four"


def leaf_of(place: PathPlace) -> Any:
    """A value of the type that the place needs."""
    return _LEAVES.get(place.name, 2)


def data_of(leaf: Any) -> dict[str, Any]:
    """The input of the page, with ``leaf`` in place of 2, and four items for a Map."""
    return {
        "one": leaf,
        "a b": {"one": leaf},
        "list": [leaf, leaf],
        "numbers": [3, 2],
        "rows": [{"k": 1}, {"k": 2}],
        "null": None,
        "four": [1, 2, 3, 4],
    }


def selected(operator: PathOperator, leaf: Any) -> Any:
    """What the operator selects in the data, worked out by hand."""
    return {
        "wildcard": [leaf, leaf],
        "scan": [leaf, leaf],
        "slice": [leaf],
        "filter": [{"k": 1}],
        "list of indexes": [leaf, leaf],
        "function length()": 2,
        "function min()": 2,
        "null": None,
        "index past the end": None,
        **{one.name: [] for one in OPERATORS if one.kind == "none"},
    }.get(operator.name, leaf)


def written(operator: PathOperator, given: Any) -> Any:
    """The output of a state that was given ``given``, by hand: the result is where the path
    points, and the rest is as it was."""
    output = copy.deepcopy(given)
    match operator.name:
        case "root":
            return _RESULT
        case "name":
            output["one"] = _RESULT
        case "name in brackets":
            output["a b"]["one"] = _RESULT
        case "index":
            output["list"][0] = _RESULT
        case "null":
            output["null"] = _RESULT
        case "missing name":
            output["gone"] = _RESULT
        case other:
            raise AssertionError(other)
    return output


def state_of(place: str, path: str) -> dict[str, Any]:
    """The state with ``path`` in that place."""
    last: dict[str, Any] = {"End": True}
    match place:
        case "InputPath" | "OutputPath":
            return {"Type": "Pass", place: path, **last}
        case "Parameters":
            return {"Type": "Pass", place: {"v.$": path}, **last}
        case "intrinsic argument":
            return {"Type": "Pass", "Parameters": {"v.$": f"States.Array({path})"}, **last}
        case "ResultSelector":
            return {"Type": "Task", "Resource": LAMBDA, place: {"v.$": path}, **last}
        case "Assign":
            return {"Type": "Pass", place: {"v2.$": path}, "Next": "Read"}
        case "ItemSelector":
            return {"Type": "Map", "ItemProcessor": _CHILD, "ItemsPath": _FOUR,
                    place: {"v.$": path}, **last}  # fmt: skip
        case "ResultPath":
            return {"Type": "Pass", "Result": _RESULT, place: path, **last}
        case "Variable" | "NumericEqualsPath":
            rule = {"Variable": "$v", "NumericEqualsPath": path}
            if place == "Variable":
                rule = {"Variable": path, "NumericEquals": 2}  # type: ignore[dict-item]
            return {"Type": "Choice", "Choices": [{**rule, "Next": "Yes"}], "Default": "No"}
        case "Variable of IsPresent":
            rule = {"Variable": path, "IsPresent": True, "Next": "Yes"}  # type: ignore[dict-item]
            return {"Type": "Choice", "Choices": [rule], "Default": "No"}
        case "ItemsPath":
            return {"Type": "Map", "ItemProcessor": _CHILD, place: path, **last}
        case "MaxConcurrencyPath":
            items = {"ItemProcessor": _WORK, "ItemsPath": _FOUR}
            return {"Type": "Map", **items, place: path, **last}
        case "ToleratedFailureCountPath" | "ToleratedFailurePercentagePath":
            items = {"ItemProcessor": _DISTRIBUTED, "ItemsPath": _FOUR}
            return {"Type": "Map", **items, place: path, **last}
        case "SecondsPath" | "TimestampPath":
            return {"Type": "Wait", place: path, **last}
        case "TimeoutSecondsPath" | "HeartbeatSecondsPath":
            return {"Type": "Task", "Resource": LAMBDA, place: path, **last}
        case "ErrorPath" | "CausePath":
            return {"Type": "Fail", place: path}
    raise AssertionError(place)


def machine_with(place: PathPlace, operator: PathOperator) -> dict[str, Any]:
    state = state_of(place.name, operator.example)
    # The root of the data is what the state is given: the value itself.
    given = "$.one" if operator.name == "root" else "$"
    first = {"Type": "Pass", "Assign": {"v.$": "$.one"}, "OutputPath": given, "Next": "S"}
    found = {"Yes": {"Type": "Pass", "Result": "Yes", "End": True},
             "No": {"Type": "Pass", "Result": "No", "End": True}}  # fmt: skip
    more = found if state["Type"] == "Choice" else {}
    if "Assign" in state:
        more = {"Read": {"Type": "Pass", "Parameters": {"v.$": "$v2"}, "End": True}}
    return machine_of(First=first, S=state, **more)


class Failed(Exception):
    """An execution failed with an error that is none of the place's own."""


def output_of(machine: dict[str, Any], data: Any) -> Any:
    execution = run(machine, data)
    if execution.error is not None:
        raise Failed(execution.error)
    return execution.output


def calls_of(machine: dict[str, Any], data: Any) -> list[tuple[float, TaskCall]]:
    """What Tasks are called, each with the time. Each answers a second later."""
    clock, calls = VirtualClock(), []

    def call_task(call: TaskCall) -> Answer:
        calls.append((clock.now, call))
        return Answer(TaskSucceeded({}), after_s=1.0)

    execution = run(machine, data, call_task=call_task, clock=clock)
    if execution.error is not None:
        raise Failed(execution.error)
    return calls


def waited(machine: dict[str, Any], data: Any) -> float:
    """When the state S ends, in seconds after the start of the execution, which is at 0."""
    execution = run(machine, data)
    if execution.error is not None:
        raise Failed(execution.error)
    [end] = (e.at for e in execution.trace if (e.path, e.moment) == (("S",), "exited"))
    return end


def side_by_side(machine: dict[str, Any], data: Any) -> int:
    """How many of the four items are worked on at first."""
    return sum(at == 0 for at, _ in calls_of(machine, data))


def tolerated(machine: dict[str, Any], data: Any) -> int:
    """With how many of the four items failed the Map still succeeds, at most."""
    output_of(machine, data)
    most = 0
    for failing in range(1, 5):

        def call_task(call: TaskCall, failing: int = failing) -> TaskFailed | TaskSucceeded:
            return TaskFailed("E", "") if call.path[1] < failing else TaskSucceeded({})  # type: ignore[operator]

        if run(machine, data, call_task=call_task).error is None:
            most = failing
    return most


def error_of(machine: dict[str, Any], data: Any) -> tuple[str | None, str | None]:
    execution = run(machine, data)
    if execution.error == "States.Runtime":
        raise Failed(execution.error)
    return execution.error, execution.cause


EFFECTS: dict[str, tuple[Any, Callable[[dict[str, Any], Any], Any]]] = {
    "SecondsPath": (2, waited),
    "TimestampPath": (_NEW_YEAR[1], waited),
    "TimeoutSecondsPath": (2, lambda *given: calls_of(*given)[0][1].timeout_s),
    "HeartbeatSecondsPath": (2, lambda *given: calls_of(*given)[0][1].heartbeat_s),
    "MaxConcurrencyPath": (2, side_by_side),
    "ToleratedFailureCountPath": (2, tolerated),
    "ToleratedFailurePercentagePath": (2, tolerated),
    "ErrorPath": (("Bad", None), error_of),
    "CausePath": ((None, "Bad"), error_of),
}
"""What a place that is no data does with its value, and what shows it."""
_IN_OUTPUT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("InputPath", "OutputPath", "ItemsPath"), lambda output: output),
    **dict.fromkeys(("Parameters", "ResultSelector", "Assign"), lambda output: output["v"]),
    "intrinsic argument": lambda output: output["v"][0],
    "ItemSelector": lambda output: output[0]["v"],
}
"""Where a place of data shows its value."""


def observed(place: PathPlace, operator: PathOperator) -> str:
    """What a run shows, in the words of the page."""
    machine = machine_with(place, operator)
    errors = [problem for problem in validate(machine) if problem.is_error]
    if errors:
        return f"refused: `{errors[0].code}`"
    try:
        return _observed(place, operator, machine)
    except Failed as failed:
        return f"`{failed}`"


def _observed(place: PathPlace, operator: PathOperator, machine: dict[str, Any]) -> str:
    leaf = leaf_of(place)
    data = data_of(leaf)
    if place.name in EFFECTS:
        wanted, effect = EFFECTS[place.name]
        found = effect(machine, data)
        return VALUE if found == wanted else f"{found!r} instead of {wanted!r}"
    output = output_of(machine, data)
    if place.name == "Variable of IsPresent":
        return PRESENT if output == "Yes" else ABSENT
    if place.name in ("Variable", "NumericEqualsPath"):
        return VALUE if output == "Yes" else NO_MATCH
    if place.name == "ResultPath":
        right = written(operator, leaf if operator.name == "root" else data)
        return WRITTEN if output == right else f"{output!r} instead of {right!r}"
    found, wanted = _IN_OUTPUT[place.name](output), selected(operator, leaf)
    if found != wanted:
        return f"{found!r} instead of {wanted!r}"
    words = {"several": VALUES, "none": EMPTY, "past_end": NULL}
    return words.get(operator.kind, VALUE)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_the_interpreter_does_what_the_page_says(place: PathPlace) -> None:
    wrong = {
        operator.name: (found, place.expected(operator))
        for operator in OPERATORS
        if (found := observed(place, operator)) != place.expected(operator)
    }
    assert wrong == {}


def test_null_fails_where_a_type_is_needed() -> None:
    told = {place.name for place in PLACES for one in OPERATORS if place.expected(one) == FAILS}
    assert {"ItemsPath", "SecondsPath", "InputPath"} <= told
