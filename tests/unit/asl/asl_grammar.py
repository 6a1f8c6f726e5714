"""The fields of the Amazon States Language as its specification lists them, and their rules.

Written from https://states-language.net/spec.html, and where it leaves a field to AWS (distributed
Maps, largest numbers) from the developer guide of Step Functions. Nothing here is taken from the
code under test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Shape = dict[str, "Field"]


@dataclass(frozen=True)
class Field:
    """``kind`` says what a field holds: a text, a path, a number, objects of a ``shape`` …

    ``language`` is the only query language that has the field. ``low`` and ``high`` bound numbers,
    ``words`` are the only ones allowed. ``amount``: in JSONata an expression may stand for it.
    """

    kind: str
    required: bool = False
    language: str = ""
    low: float = 0
    high: float = 0
    words: tuple[str, ...] = ()
    shape: str = ""
    amount: bool = False


PATH, JSONATA = "JSONPath", "JSONata"
LARGEST = 99_999_999

_TEXT = Field("text")
_LANGUAGE = Field("word", words=(PATH, JSONATA))
_TEMPLATE = Field("template", language=PATH)
_PAYLOAD = Field("payload", language=JSONATA)
_COMMON: Shape = {"Type": Field("type", True), "Comment": _TEXT, "QueryLanguage": _LANGUAGE}
_IO: Shape = {
    "InputPath": Field("path or null", language=PATH),
    "OutputPath": Field("path or null", language=PATH),
}
_OUTPUT: Shape = {"Output": _PAYLOAD}
_ASSIGN: Shape = {"Assign": Field("variables")}
_WAY_ON: Shape = {"Next": Field("state"), "End": Field("end"), **_ASSIGN}
_RESULT: Shape = {
    "ResultSelector": _TEMPLATE,
    "ResultPath": Field("result path", language=PATH),
    **_OUTPUT,
}
_ERRORS: Shape = {
    "Retry": Field("objects", shape="retrier"),
    "Catch": Field("objects", shape="catcher"),
}
_WORK: Shape = {"Parameters": _TEMPLATE, "Arguments": _PAYLOAD}


def _number(field: str, low: float, high: float, kind: str = "integer") -> Shape:
    """A number, in JSONata perhaps an expression, in JSONPath perhaps a path in another field."""
    return {
        field: Field(kind, low=low, high=high, amount=True),
        f"{field}Path": Field("reference path", language=PATH),
    }


def _machine(**more: Field) -> Shape:
    required = {"StartAt": Field("state", True), "States": Field("states", True)}
    return {"Comment": _TEXT, **required, **more}


_ORDERS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
COMPARISONS: Shape = {
    **{f"String{order}": Field("operand text") for order in _ORDERS},
    **{f"Numeric{order}": Field("operand number") for order in _ORDERS},
    **{f"Timestamp{order}": Field("operand instant") for order in _ORDERS},
    "BooleanEquals": Field("operand flag"),
    "StringMatches": Field("operand text"),
    **{
        f"{kind}{order}Path": Field("path")
        for kind in ("String", "Numeric", "Timestamp")
        for order in _ORDERS
    },
    "BooleanEqualsPath": Field("path"),
    **{
        f"Is{kind}": Field("operand flag")
        for kind in ("Null", "Present", "Numeric", "String", "Boolean", "Timestamp")
    },
}

STATE_SHAPES: dict[str, Shape] = {
    "Task": {
        **_COMMON,
        **_IO,
        **_RESULT,
        **_WAY_ON,
        **_ERRORS,
        **_WORK,
        "Resource": Field("name", True),
        **_number("TimeoutSeconds", 1, LARGEST),
        **_number("HeartbeatSeconds", 1, LARGEST),
        "Credentials": Field("any"),
    },
    "Pass": {
        **_COMMON,
        **_IO,
        **_OUTPUT,
        **_WAY_ON,
        "Parameters": _TEMPLATE,
        "Result": Field("any", language=PATH),
        "ResultPath": Field("result path", language=PATH),
    },
    "Wait": {
        **_COMMON,
        **_IO,
        **_OUTPUT,
        **_WAY_ON,
        **_number("Seconds", 0, LARGEST),
        "Timestamp": Field("instant", amount=True),
        "TimestampPath": Field("reference path", language=PATH),
    },
    "Choice": {
        **_COMMON,
        **_IO,
        **_OUTPUT,
        **_ASSIGN,
        "Choices": Field("rules", True, shape="rule"),
        "Default": Field("state"),
    },
    "Succeed": {**_COMMON, **_IO, **_OUTPUT},
    "Fail": {
        **_COMMON,
        "Error": Field("words", amount=True),
        "Cause": Field("words", amount=True),
        "ErrorPath": Field("path or call", language=PATH),
        "CausePath": Field("path or call", language=PATH),
    },
    "Parallel": {
        **_COMMON,
        **_IO,
        **_RESULT,
        **_WAY_ON,
        **_ERRORS,
        **_WORK,
        "Branches": Field("machines", True, shape="branch"),
    },
    "Map": {
        **_COMMON,
        **_IO,
        **_RESULT,
        **_WAY_ON,
        **_ERRORS,
        "Parameters": _TEMPLATE,
        "ItemsPath": Field("reference path", language=PATH),
        "Items": Field("items", language=JSONATA),
        "ItemSelector": Field("template or payload"),
        "ItemProcessor": Field("machine", True, shape="processor"),
        "Iterator": Field("machine", True, shape="processor"),
        **_number("MaxConcurrency", 0, LARGEST),
        "ItemReader": Field("object", shape="reader"),
        "ItemBatcher": Field("object", shape="batcher"),
        "ResultWriter": Field("object", shape="writer"),
        **_number("ToleratedFailureCount", 0, LARGEST),
        **_number("ToleratedFailurePercentage", 0, 100, "number"),
        "Label": Field("label"),
    },
}
"""What each type of state may have."""

SHAPES: dict[str, Shape] = {
    "machine": _machine(
        Version=Field("word", words=("1.0",)),
        TimeoutSeconds=Field("integer", low=0, high=LARGEST),
        QueryLanguage=_LANGUAGE,
    ),
    "branch": _machine(),
    "processor": _machine(ProcessorConfig=Field("object", shape="processor config")),
    "processor config": {
        "Mode": Field("word", words=("INLINE", "DISTRIBUTED")),
        "ExecutionType": Field("word", words=("STANDARD", "EXPRESS")),
    },
    "retrier": {
        "Comment": _TEXT,
        "ErrorEquals": Field("error names", True),
        "IntervalSeconds": Field("integer", low=0, high=LARGEST),
        "MaxAttempts": Field("integer", low=0, high=LARGEST),
        "BackoffRate": Field("number", low=1, high=1e9),
        "MaxDelaySeconds": Field("integer", low=1, high=31_622_400),
        "JitterStrategy": Field("word", words=("FULL", "NONE")),
    },
    "catcher": {
        "Comment": _TEXT,
        "ErrorEquals": Field("error names", True),
        "Next": Field("state", True),
        "ResultPath": Field("result path", language=PATH),
        **_ASSIGN,
        **_OUTPUT,
    },
    "rule": {
        "Comment": _TEXT,
        "Next": Field("state", True),
        **_ASSIGN,
        **_OUTPUT,
        "Condition": Field("condition", language=JSONATA),
        "Variable": Field("path", language=PATH),
        "And": Field("rules", language=PATH, shape="inner rule"),
        "Or": Field("rules", language=PATH, shape="inner rule"),
        "Not": Field("rule", language=PATH, shape="inner rule"),
        **COMPARISONS,
    },
    "inner rule": {
        "Comment": _TEXT,
        "Variable": Field("path"),
        "And": Field("rules", shape="inner rule"),
        "Or": Field("rules", shape="inner rule"),
        "Not": Field("rule", shape="inner rule"),
        **COMPARISONS,
    },
    "reader": {
        "Resource": Field("name", True),
        "ReaderConfig": Field("object", shape="reader config"),
        **_WORK,
    },
    "reader config": {
        "InputType": Field("word", words=("CSV", "JSON", "JSONL", "PARQUET", "MANIFEST")),
        "CSVHeaderLocation": Field("word", words=("FIRST_ROW", "GIVEN")),
        "CSVHeaders": Field("texts"),
        "CSVDelimiter": Field("word", words=("COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB")),
        **_number("MaxItems", 0, 100_000_000),
    },
    "batcher": {
        **_number("MaxItemsPerBatch", 0, 100_000_000),
        **_number("MaxInputBytesPerBatch", 0, 262_144),
        "BatchInput": Field("template or payload"),
    },
    "writer": {
        "Resource": Field("name"),
        "WriterConfig": Field("object", shape="writer config"),
        **_WORK,
    },
    "writer config": {
        "OutputType": Field("word", words=("JSON", "JSONL")),
        "Transformation": Field("word", words=("NONE", "COMPACT", "FLATTEN")),
    },
}
"""What each other object of a definition may have."""


def fields_of(shape: str, value: dict[str, Any]) -> Shape:
    """The fields of an object: those of a state depend on its ``Type``."""
    return STATE_SHAPES[value["Type"]] if shape == "state" else SHAPES[shape]
