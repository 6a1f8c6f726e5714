"""Where a failed JSONata expression is, as AWS writes it: the way to it from the state."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import enter, react

from dcf.asl import Failure, ItemsRead, Joined, ReadItems, TaskFailed

MISSING = "{% $states.input.missing %}"
TASK = {"Type": "Task", "Resource": "work", "QueryLanguage": "JSONata"}
INNER = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
APART = {**INNER, "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
MAP = {"Type": "Map", "QueryLanguage": "JSONata", "ItemProcessor": APART}
STORE = "arn:aws:states:::s3:"


def choice(*rules: dict[str, Any]) -> dict[str, Any]:
    choices = [{"Next": "Next", "Condition": "{% false %}"}, *({"Next": "Next"} | r for r in rules)]
    return {"Type": "Choice", "QueryLanguage": "JSONata", "Choices": choices}


def place(effect: Any) -> str:
    """The place that the cause of a failure names."""
    assert isinstance(effect, Failure) and effect.cause is not None
    assert effect.error == "States.QueryEvaluationError"
    return effect.cause.partition("specified for the field '")[2].partition("'")[0]


@pytest.mark.parametrize(
    ("state", "where"),
    [
        (choice({"Condition": MISSING}), "Choices[1]/Condition"),
        (choice({"Condition": "{% 1 %}"}), "Choices[1]/Condition"),
        (choice({"Condition": True, "Output": {"v": MISSING}}), "Choices[1]/Output/v"),
        (choice({"Condition": True, "Assign": {"x": MISSING}}), "Choices[1]/Assign/x"),
        (TASK | {"Arguments": {"a": [1, MISSING]}}, "Arguments/a[1]"),
        (TASK | {"TimeoutSeconds": MISSING}, "TimeoutSeconds"),
        (MAP | {"Items": MISSING}, "Items"),
        (MAP | {"MaxConcurrency": MISSING}, "MaxConcurrency"),
        (
            MAP | {"ItemBatcher": {"MaxItemsPerBatch": 1, "BatchInput": {"b": MISSING}}},
            "ItemBatcher/BatchInput/b",
        ),
        (MAP | {"ItemBatcher": {"MaxItemsPerBatch": MISSING}}, "ItemBatcher/MaxItemsPerBatch"),
        (
            MAP
            | {
                "ItemReader": {
                    "Resource": f"{STORE}getObject",
                    "ReaderConfig": {"InputType": "JSON"},
                    "Arguments": {"Bucket": MISSING},
                }
            },
            "ItemReader/Arguments/Bucket",
        ),
    ],
)
def test_the_place_is_told_from_the_state(state: dict[str, Any], where: str) -> None:
    assert place(enter(state, [])) == where


@pytest.mark.parametrize(
    ("field", "where"), [("Output", "Catch[1]/Output/v"), ("Assign", "Catch[1]/Assign/v")]
)
def test_a_catcher_is_named_by_its_number(field: str, where: str) -> None:
    catchers = [
        {"ErrorEquals": ["Other"], "Next": "Next"},
        {"ErrorEquals": ["E"], field: {"v": MISSING}, "Next": "Next"},
    ]

    assert place(react(TASK | {"Catch": catchers}, {}, TaskFailed("E", "why"))) == where


def test_reader_and_writer_are_named_too() -> None:
    reader = {
        "Resource": f"{STORE}getObject",
        "ReaderConfig": {"InputType": "JSON", "MaxItems": MISSING},
        "Arguments": {"Bucket": "b", "Key": "k"},
    }
    writer = {"Resource": f"{STORE}putObject", "Arguments": {"Bucket": MISSING}}
    found = ItemsRead(ReadItems(()), (b"[1]",))

    read = react(MAP | {"ItemReader": reader}, {}, found)
    written = react(MAP | {"ResultWriter": writer}, {}, Joined([1]))

    assert place(read) == "ItemReader/ReaderConfig/MaxItems"
    assert place(written) == "ResultWriter/Arguments/Bucket"
