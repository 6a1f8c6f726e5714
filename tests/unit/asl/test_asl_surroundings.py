"""A machine does the same inside other states: what surrounds it has a known effect."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asl_builders import machine_of, run

from dcf.asl import Execution

Machine = dict[str, Any]
DISTRIBUTED = {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}
DATA = {"n": 3, "list": [1, 2], "text": "a"}
EXCEEDED = "The specified tolerated failure threshold was exceeded"

MACHINES: dict[str, Machine] = {
    "pass": machine_of(S={"Type": "Pass", "Parameters": {"v.$": "$.list[1]"}, "End": True}),
    "intrinsic": machine_of(
        S={"Type": "Pass", "Parameters": {"v.$": "States.MathAdd($.n, 4)"}, "End": True}
    ),
    "choice": machine_of(
        S={
            "Type": "Choice",
            "Choices": [{"Variable": "$.n", "NumericGreaterThan": 2, "Next": "Yes"}],
            "Default": "No",
        },
        Yes={"Type": "Pass", "Result": "yes", "End": True},
        No={"Type": "Fail"},
    ),
    "variables": machine_of(
        S={"Type": "Pass", "Assign": {"own.$": "$.n"}, "Next": "T"},
        T={"Type": "Pass", "Parameters": {"v.$": "$own"}, "End": True},
    ),
    "task": machine_of(S={"Type": "Task", "Resource": "r", "ResultPath": "$.r", "End": True}),
    "jsonata": machine_of(
        S={
            "Type": "Pass",
            "QueryLanguage": "JSONata",
            "Output": "{% $states.input.n + 1 %}",
            "End": True,
        }
    ),
    "map": machine_of(
        S={
            "Type": "Map",
            "ItemsPath": "$.list",
            "ItemProcessor": machine_of(I={"Type": "Pass", "End": True}),
            "End": True,
        }
    ),
    "fail": machine_of(S={"Type": "Fail", "Error": "Own", "Cause": "why"}),
    "fail without words": machine_of(S={"Type": "Fail"}),
    "runtime": machine_of(S={"Type": "Pass", "InputPath": "$.nothing", "End": True}),
    "no choice": machine_of(
        S={
            "Type": "Choice",
            "Choices": [{"Variable": "$.n", "NumericEquals": 4, "Next": "Yes"}],
        },
        Yes={"Type": "Succeed"},
    ),
    "result path": machine_of(S={"Type": "Pass", "ResultPath": "$.text.v", "End": True}),
    "undefined": machine_of(
        S={
            "Type": "Pass",
            "QueryLanguage": "JSONata",
            "Output": "{% $states.input.nothing %}",
            "End": True,
        }
    ),
}


def told(execution: Execution) -> tuple[Any, ...]:
    return execution.status, execution.output, execution.error, execution.cause


def later(execution: Execution, events: int) -> tuple[Any, ...]:
    """What ``execution`` tells when ``events`` more happened before it."""
    status, output, error, cause = told(execution)
    if cause is not None:
        cause = re.sub(r"event id #(\d+)", lambda m: f"event id #{int(m[1]) + events}", cause)
    return status, output, error, cause


def parallel(machine: Machine, **fields: Any) -> Machine:
    return machine_of(Around={"Type": "Parallel", "Branches": [machine], "End": True, **fields})


def mapped(machine: Machine, config: Machine, **fields: Any) -> Machine:
    processor = {**machine, "ProcessorConfig": config}
    return machine_of(Around={"Type": "Map", "ItemProcessor": processor, "End": True, **fields})


every = pytest.mark.parametrize("machine", MACHINES.values(), ids=list(MACHINES))


@every
@pytest.mark.parametrize(
    "before", [{}, {"Assign": {"unrelated": 1}}, {"QueryLanguage": "JSONata"}], ids=str
)
def test_a_pass_before_it_changes_numbers_only(machine: Machine, before: Machine) -> None:
    states = {"Before": {"Type": "Pass", "Next": "S", **before}, **machine["States"]}

    assert told(run(machine_of(**states), DATA)) == later(run(machine, DATA), 2)


@every
@pytest.mark.parametrize(
    "retry",
    [[], [{"ErrorEquals": ["Other"]}, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 0}]],
    ids=["plain", "retry"],
)
@pytest.mark.parametrize("around", ["Parallel", "Map"])
def test_around_it_an_output_becomes_a_list_and_a_failure_stays(
    machine: Machine, around: str, retry: list[Machine]
) -> None:
    status, output, error, cause = later(run(machine, DATA), 2 if around == "Parallel" else 3)
    if around == "Parallel":
        execution = run(parallel(machine, Retry=retry), DATA)
    else:
        execution = run(mapped(machine, {"Mode": "INLINE"}, Retry=retry), [DATA])

    listed = [output] if status == "SUCCEEDED" else output
    assert told(execution) == (status, listed, error, cause)


@every
def test_a_catch_around_it_takes_all_but_what_nothing_catches(machine: Machine) -> None:
    status, output, error, cause = later(run(machine, DATA), 2)

    catching = parallel(machine, Catch=[{"ErrorEquals": ["States.ALL"], "Next": "Caught"}])
    catching["States"]["Caught"] = {"Type": "Pass", "End": True}
    execution = run(catching, DATA)

    if status == "SUCCEEDED":
        assert execution.output == [output]
    elif error == "States.Runtime":
        assert told(execution) == (status, output, error, cause)
    else:
        assert execution.output == {"Error": error or "", "Cause": cause or ""}


@every
def test_a_large_map_counts_failures(machine: Machine) -> None:
    alone = run(machine, DATA)
    strict = run(mapped(machine, DISTRIBUTED), [DATA])
    tolerant = run(mapped(machine, DISTRIBUTED, ToleratedFailurePercentage=100), [DATA])

    assert tolerant.status == "SUCCEEDED"
    if alone.status == "SUCCEEDED":
        assert strict.output == tolerant.output == [alone.output]
    else:
        assert (strict.error, strict.cause) == ("States.ExceedToleratedFailureThreshold", EXCEEDED)


@every
def test_the_name_of_a_state_is_only_told(machine: Machine) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {renamed(name): renamed(item) for name, item in value.items()}
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return "Größe 1" if value == "S" else value

    status, output, error, cause = told(run(machine, DATA))
    if cause is not None:
        cause = cause.replace("'S'", "'Größe 1'")
    assert told(run(renamed(machine), DATA)) == (status, output, error, cause)
