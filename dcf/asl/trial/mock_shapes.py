"""The shapes of what well-known services answer, as far as a mocked answer is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dcf.asl.payload import JSON, is_number


@dataclass(frozen=True, slots=True)
class Number:
    """A number within ``low`` and ``high``."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A string of at least ``shortest`` characters, one of ``allowed`` if there are any."""

    shortest: int = 0
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flag:
    """``true`` or ``false``."""


@dataclass(frozen=True, slots=True)
class Items:
    """An array of one kind of things."""

    of: Shape


Shape: TypeAlias = "Number | Text | Flag | Items | Mapping[str, Shape]"

_NUMBER, _TEXT = Number(), Text()
_CAPACITY: Shape = {
    "TableName": _TEXT,
    **dict.fromkeys(("CapacityUnits", "ReadCapacityUnits", "WriteCapacityUnits"), _NUMBER),
}
_DYNAMODB: Shape = {"ConsumedCapacity": _CAPACITY, "Attributes": {}, "Item": {}}
_STORAGE_CLASSES = (
    *("STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING"),
    *("GLACIER", "DEEP_ARCHIVE", "OUTPOSTS", "GLACIER_IR", "SNOW", "EXPRESS_ONEZONE"),
    *("FSX_OPENZFS", "FSX_ONTAP"),
)
_FUNCTION: Shape = {
    **dict.fromkeys(("FunctionName", "FunctionArn", "Handler", "Role", "Runtime"), _TEXT),
    "CodeSize": _NUMBER,
    "MemorySize": Number(128, 10_240),
    "Timeout": Number(1),
}

SHAPES: dict[str, Shape] = {
    "lambda:invoke": {
        "ExecutedVersion": Text(1),
        "FunctionError": _TEXT,
        "LogResult": _TEXT,
        "StatusCode": _NUMBER,
    },
    "dynamodb:getItem": _DYNAMODB,
    "dynamodb:putItem": _DYNAMODB,
    "dynamodb:updateItem": _DYNAMODB,
    "dynamodb:deleteItem": _DYNAMODB,
    "events:putEvents": {
        "Entries": Items({"EventId": _TEXT, "ErrorCode": _TEXT, "ErrorMessage": _TEXT}),
        "FailedEntryCount": _NUMBER,
    },
    "sns:publish": {"MessageId": _TEXT, "SequenceNumber": _TEXT},
    "sqs:sendMessage": dict.fromkeys(("MessageId", "MD5OfMessageBody", "SequenceNumber"), _TEXT),
    "states:startExecution": {"ExecutionArn": Text(1), "StartDate": _TEXT},
    "aws-sdk:lambda:getFunction": {"Configuration": _FUNCTION},
    "aws-sdk:kms:encrypt": {"CiphertextBlob": Text(1), "KeyId": Text(1)},
    "aws-sdk:kms:decrypt": {"Plaintext": Text(1), "KeyId": Text(1)},
    "aws-sdk:s3:getObject": {
        "ContentLength": _NUMBER,
        "ContentType": _TEXT,
        "ETag": _TEXT,
        "VersionId": _TEXT,
        "DeleteMarker": Flag(),
        "StorageClass": Text(0, _STORAGE_CLASSES),
    },
    "aws-sdk:s3:putObject": {"ETag": _TEXT, "VersionId": _TEXT},
}
"""What is checked of an answer, by the service and action of an integration; other fields are
free."""

ALWAYS: dict[str, tuple[str, ...]] = {
    "states:startExecution": ("ExecutionArn", "StartDate"),
    "aws-sdk:sfn:startExecution": ("ExecutionArn", "StartDate"),
    "aws-sdk:sfn:describeExecution": ("ExecutionArn", "StateMachineArn", "Status", "StartDate"),
}
"""Fields that every answer has, by the API's model."""


def shape_problem(resource: str | None, result: JSON, *, complete: bool = True) -> str | None:
    """What is wrong with ``result`` as an answer of the service in ``resource``; None: nothing.

    Without ``complete`` fields that every answer has may be missing.
    """
    if resource is None or not resource.startswith("arn:") or ":states:::" not in resource:
        return None
    if resource.endswith(".waitForTaskToken"):
        return None
    action, _, pattern = resource.partition(":states:::")[2].partition(".")
    shape = SHAPES.get(action)
    problem = None if shape is None else next(_problems("", shape, result), None)
    # Who waits for the end of the work (.sync) gets the answer to another question.
    if problem is not None or pattern or not complete or not isinstance(result, dict):
        return problem
    missing = next((name for name in ALWAYS.get(action, ()) if name not in result), None)
    return None if missing is None else f"Field '{missing}' is required"


def _problems(field: str, shape: Shape, value: JSON) -> Iterator[str]:
    named = f"Field '{field}'"
    if isinstance(shape, Number):
        yield from _number_problems(named, shape, value)
    elif isinstance(shape, Text):
        yield from _text_problems(named, shape, value)
    elif isinstance(shape, Flag):
        if not isinstance(value, bool):
            yield f"{named} must be a boolean"
    elif isinstance(shape, Items):
        if not isinstance(value, list):
            yield f"{named} must be an array"
            return
        for item in value:
            yield from _problems(field, shape.of, item)
    elif not isinstance(value, dict):
        yield f"{named} must be an object" if field else "The result must be an object"
    else:
        for name, inner in shape.items():
            if name in value:
                yield from _problems(name, inner, value[name])


def _number_problems(named: str, shape: Number, value: JSON) -> Iterator[str]:
    if not is_number(value):
        yield f"{named} must be a number"
    elif shape.low is not None and value < shape.low:
        yield f"{named} is less than the minimum value"
    elif shape.high is not None and value > shape.high:
        yield f"{named} exceeds the maximum value"


def _text_problems(named: str, shape: Text, value: JSON) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{named} must be a string"
    elif len(value) < shape.shortest:
        yield f"{named} is smaller than the minimum length"
    elif shape.allowed and value not in shape.allowed:
        yield f"{named} is not an expected value"
