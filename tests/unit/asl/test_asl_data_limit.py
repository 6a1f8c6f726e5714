"""The largest payload: what a Parallel or Map gives to its children counts too."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of, run

PASS = {"Type": "Pass", "Result": 1, "End": True}
PROCESSOR = machine_of(P=PASS)
DISTRIBUTED = {**PROCESSOR, "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
HALF = {"s": "x" * 150_000}
"""Twice this is more than 262,144 bytes."""

TWICE = {"a.$": "$.s", "b.$": "$.s"}
CAUSE = (
    "The state/task 'S' created an input with a size exceeding the maximum number of bytes "
    "service limit."
)


def ends(state: dict[str, Any], data: Any, **more: Any) -> tuple[Any, ...]:
    execution = run(machine_of(S={**state, "End": True}), data, aws_limits=True, **more)
    return execution.status, execution.error, execution.cause


@pytest.mark.parametrize(
    "state",
    [
        {"Type": "Parallel", "Branches": [PROCESSOR], "Parameters": TWICE},
        {"Type": "Map", "ItemProcessor": PROCESSOR, "ItemsPath": "$.xs", "ItemSelector": TWICE},
        {
            "Type": "Map",
            "ItemProcessor": DISTRIBUTED,
            "ItemsPath": "$.xs",
            "ItemBatcher": {"MaxItemsPerBatch": 1, "BatchInput": TWICE},
        },
        {
            "Type": "Map",
            "QueryLanguage": "JSONata",
            "ItemProcessor": PROCESSOR,
            "Items": "{% [$states.input.s & $states.input.s] %}",
        },
    ],
)
def test_an_input_of_a_child_over_the_limit_fails_its_state(state: dict[str, Any]) -> None:
    data = {**HALF, "xs": [1]}

    assert ends(state, data) == ("FAILED", "States.DataLimitExceeded", CAUSE)
    assert run(machine_of(S={**state, "End": True}), data).status == "SUCCEEDED"


def test_inputs_are_measured_one_by_one() -> None:
    state = {
        "Type": "Map",
        "ItemProcessor": PROCESSOR,
        "ItemsPath": "$.xs",
        "ItemSelector": {"a.$": "$.s"},
    }

    assert ends(state, {**HALF, "xs": [1, 2, 3]})[0] == "SUCCEEDED"


def test_an_iteration_with_too_large_an_input_counts_as_failed() -> None:
    state = {
        "Type": "Map",
        "ItemProcessor": DISTRIBUTED,
        "ItemsPath": "$.xs",
        "ItemSelector": TWICE,
    }

    assert ends(state, {**HALF, "xs": [1]})[1] == "States.ExceedToleratedFailureThreshold"
    assert ends({**state, "ToleratedFailureCount": 1}, {**HALF, "xs": [1]})[0] == "SUCCEEDED"


def test_too_large_an_input_is_caught() -> None:
    catch = [{"ErrorEquals": ["States.DataLimitExceeded"], "Next": "C", "ResultPath": "$.e"}]
    state = {"Type": "Parallel", "Branches": [PROCESSOR], "Parameters": TWICE, "Catch": catch}
    definition = machine_of(S={**state, "End": True}, C=PASS)

    assert run(definition, HALF, aws_limits=True).status == "SUCCEEDED"
