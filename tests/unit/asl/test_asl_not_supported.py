"""What the language has and this version has not is a clear error, never a silent pass."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, codes, machine_of

from dcf.asl import validate

LATER = "ASL_NOT_SUPPORTED_YET"
TASK = {"Type": "Task", "Resource": "r"}
MAP = {
    "Type": "Map",
    "ItemProcessor": {"StartAt": "I", "States": {"I": {"Type": "Succeed"}}},
}


@pytest.mark.parametrize(
    ("state", "place"),
    [
        ({**TASK, "Assign": {"x": 1}}, "/Assign"),
        ({**TASK, "Arguments": {}}, "/Arguments"),
        ({**TASK, "Output": {}}, "/Output"),
        ({**TASK, "Credentials": {}}, "/Credentials"),
        ({**TASK, "TimeoutSecondsPath": "$.t"}, "/TimeoutSecondsPath"),
        ({**TASK, "HeartbeatSecondsPath": "$.t"}, "/HeartbeatSecondsPath"),
        ({**TASK, "QueryLanguage": "JSONata"}, "/QueryLanguage"),
        ({"Type": "Task", "Resource": "arn:x.waitForTaskToken"}, "/Resource"),
        ({**TASK, "Parameters": {"t.$": "$$.Task.Token"}}, "/Parameters/t.$"),
        ({**TASK, "Parameters": {"t.$": "$variable.x"}}, "/Parameters/t.$"),
        (
            {**TASK, "Catch": [{"ErrorEquals": ["A"], "Next": "Next", "Assign": {}}]},
            "/Catch/0/Assign",
        ),
        ({**MAP, "MaxConcurrencyPath": "$.n"}, "/MaxConcurrencyPath"),
        ({**MAP, "ItemReader": {}}, "/ItemReader"),
        ({**MAP, "ItemBatcher": {}}, "/ItemBatcher"),
        ({**MAP, "ResultWriter": {}}, "/ResultWriter"),
        ({**MAP, "Label": "l"}, "/Label"),
        ({**MAP, "Items": []}, "/Items"),
        ({**MAP, "ToleratedFailureCount": 1}, "/ToleratedFailureCount"),
        ({**MAP, "ToleratedFailurePercentagePath": "$.p"}, "/ToleratedFailurePercentagePath"),
        (
            {
                "Type": "Map",
                "ItemProcessor": {
                    **MAP["ItemProcessor"],
                    "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
                },
            },
            "/ItemProcessor/ProcessorConfig/Mode",
        ),
        (
            {"Type": "Choice", "Choices": [{"Condition": "x", "Next": "Next"}]},
            "/Choices/0/Condition",
        ),
    ],
)
def test_a_later_feature_is_refused_where_it_stands(state: dict[str, Any], place: str) -> None:
    assert codes(alone(state)) == [(LATER, f"/States/S{place}")]


def test_the_hint_says_what_to_use_instead() -> None:
    problem = validate(alone({**TASK, "TimeoutSecondsPath": "$.t"}))[0]

    assert "TimeoutSeconds" in problem.hint


def test_a_jsonata_machine_is_refused_once_not_field_by_field() -> None:
    definition = {
        "QueryLanguage": "JSONata",
        **machine_of(
            A={"Type": "Task", "Resource": "r", "Arguments": "{% $x %}", "Next": "B"},
            B={**MAP, "Items": "{% $y %}", "End": True},
        ),
    }

    assert codes(definition) == [(LATER, "/QueryLanguage")]


def test_the_transitions_of_a_jsonata_machine_are_still_checked() -> None:
    definition = {
        "QueryLanguage": "JSONata",
        **machine_of(A={"Type": "Pass", "Output": "{% 1 %}", "Next": "Nowhere"}),
    }

    assert codes(definition) == [
        (LATER, "/QueryLanguage"),
        ("ASL_UNKNOWN_STATE", "/States/A/Next"),
    ]


def test_an_inline_mode_and_jsonpath_may_be_said_explicitly() -> None:
    processor = {**MAP["ItemProcessor"], "ProcessorConfig": {"Mode": "INLINE"}}

    assert codes(alone({"Type": "Map", "ItemProcessor": processor})) == []
    assert codes(alone({"Type": "Pass", "QueryLanguage": "JSONPath"})) == []
