"""The largest payload: what a Parallel or Map gives to its children counts too."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of, run

from dcf.asl import TaskSucceeded

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


@pytest.mark.parametrize(
    ("resource", "named"),
    [
        ("arn:aws:states:::lambda:invoke", "lambda"),
        ("arn:aws:states:::sqs:sendMessage.waitForTaskToken", "sqs"),
        ("arn:aws:states:::aws-sdk:s3:getObject", "aws-sdk:s3"),
        ("arn:aws:lambda:us-east-1:1:function:f", "arn:aws:lambda:us-east-1:1:function:f"),
        ("work", "S"),
    ],
)
def test_a_result_over_the_limit_names_who_gave_it(resource: str, named: str) -> None:
    large = TaskSucceeded("x" * 262_143)  # with its quotes one byte too many
    cause = f"The state/task '{named}' returned a result with a size exceeding"

    status, error, told = ends(
        {"Type": "Task", "Resource": resource}, {}, call_task=lambda _: large
    )

    assert (status, error) == ("FAILED", "States.DataLimitExceeded")
    assert told.startswith(cause)


def test_bytes_are_counted_not_characters() -> None:
    state = {"Type": "Pass", "Parameters": {"v.$": "States.Format('{}{}', $.s, $.s)"}}

    # {"v":"…"} has 8 bytes beside the text, and each é two.
    assert ends(state, {"s": "é" * 65_534})[0] == "SUCCEEDED"
    assert ends(state, {"s": "é" * 65_535})[1] == "States.DataLimitExceeded"
