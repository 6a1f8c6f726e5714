"""The interpreter does what the page of paths by place says, cell by cell."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of, run

from dcf.asl import validate
from dcf.cli.reference_pages.path_places import (
    ABSENT,
    FAILS,
    NO_MATCH,
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
_LEAVES = {
    "ItemsPath": [7, 8],
    "TimestampPath": "2030-01-01T00:00:00Z",
    "ErrorPath": "Bad",
    "CausePath": "Bad",
}
_CHILD = machine_of(In={"Type": "Pass", "End": True})
_DISTRIBUTED = {
    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    **_CHILD,
}
_RESULT = "the result"


def leaf_of(place: PathPlace) -> Any:
    """A value of the type that the place needs."""
    return _LEAVES.get(place.name, 2)


def data_of(leaf: Any) -> dict[str, Any]:
    return {
        "one": leaf,
        "a b": {"one": leaf},
        "list": [leaf, leaf],
        "rows": [{"k": 1}, {"k": 2}],
        "null": None,
    }


def values_of(operator: PathOperator, leaf: Any) -> Any:
    """What the operator selects in the data, worked out by hand."""
    return {
        "root": leaf,
        "wildcard": [leaf, leaf],
        "scan": [leaf, leaf],
        "slice": [leaf],
        "filter": [{"k": 1}],
        "list of indexes": [leaf, leaf],
        "to null": None,
        "missing, several": [],
    }.get(operator.name, leaf)


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
            return {"Type": "Map", "ItemProcessor": _CHILD, "ItemsPath": "$$.Execution.Input.rows",
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
        case "ItemsPath" | "MaxConcurrencyPath":
            items = {} if place == "ItemsPath" else {"ItemsPath": "$$.Execution.Input.rows"}
            return {"Type": "Map", "ItemProcessor": _CHILD, **items, place: path, **last}
        case "ToleratedFailureCountPath":
            items = {"ItemsPath": "$$.Execution.Input.rows"}
            return {"Type": "Map", "ItemProcessor": _DISTRIBUTED, **items, place: path, **last}
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


def observed(place: PathPlace, operator: PathOperator) -> str:
    """What a run shows, in the words of the page."""
    leaf = leaf_of(place)
    machine = machine_with(place, operator)
    errors = [problem for problem in validate(machine) if problem.is_error]
    if errors:
        return f"refused: `{errors[0].code}`"
    data = data_of(leaf)
    execution = run(machine, data)
    wanted = values_of(operator, leaf)
    if place.name in ("ErrorPath", "CausePath"):
        return VALUE if wanted in (execution.error, execution.cause) else f"`{execution.error}`"
    if execution.error is not None:
        return f"`{execution.error}`"
    output = execution.output
    if place.name == "Variable of IsPresent":
        return PRESENT if output == "Yes" else ABSENT
    if place.name in ("Variable", "NumericEqualsPath"):
        return VALUE if output == "Yes" else NO_MATCH
    if place.name == "ResultPath":
        return WRITTEN if _RESULT in _everything(output) else str(output)
    if place.name in ("Parameters", "ResultSelector", "Assign"):
        output = output["v"]
    elif place.name == "intrinsic argument":
        [output] = output["v"]
    elif place.name == "ItemSelector":
        output = output[0]["v"]
    elif place.name not in ("InputPath", "OutputPath", "ItemsPath"):
        return VALUE  # a number or a time, taken as such: the run ended well
    if output != wanted:
        return f"{output!r} instead of {wanted!r}"
    return VALUES if operator.kind in ("several", "none") else VALUE


def _everything(value: Any) -> list[Any]:
    if isinstance(value, (dict, list)):
        inner = value.values() if isinstance(value, dict) else value
        return [found for item in inner for found in _everything(item)]
    return [value]


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
