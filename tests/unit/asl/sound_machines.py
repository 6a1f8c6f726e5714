"""Valid machines with every type of state and every field of the language, in both query languages.

Each is small: one state that the name tells, and what it needs around it.
"""

from __future__ import annotations

from typing import Any

LAMBDA = "arn:aws:states:::lambda:invoke"
_LAST = {"Type": "Succeed"}


def _inner(number: int, **more: Any) -> dict[str, Any]:
    return {
        **more,
        "Comment": "an inner machine",
        "StartAt": f"In{number}",
        "States": {
            f"In{number}": {"Type": "Pass", "Next": f"Out{number}"},
            f"Out{number}": {"Type": "Pass", "End": True},
        },
    }


def _machine(state: dict[str, Any], **root: Any) -> dict[str, Any]:
    """``state`` as ``S``, with a successor that it names or ends without."""
    moves = state["Type"] not in ("Choice", "Succeed", "Fail")
    way = {"Next": "Last"} if moves else {}
    # What S cannot lead to needs another way there.
    first = {
        "Type": "Choice",
        "Choices": [{"Variable": "$.go", "IsPresent": True, "Next": "S"}],
        "Default": "Last",
    }
    if root.get("QueryLanguage") == "JSONata":
        first["Choices"] = [{"Condition": "{% $exists($states.input.go) %}", "Next": "S"}]
    states = {"First": first, "S": {**state, **way}, "Last": _LAST}
    return {"Comment": "a machine", "StartAt": "First", "States": states, **root}


def _path(state_type: str, **fields: Any) -> dict[str, Any]:
    return _machine({"Type": state_type, "Comment": "a state", **fields})


def _jsonata(state_type: str, **fields: Any) -> dict[str, Any]:
    state = {"Type": state_type, "Comment": "a state", **fields}
    return _machine(state, QueryLanguage="JSONata", Version="1.0", TimeoutSeconds=60)


_IO = {"InputPath": "$.in", "OutputPath": "$.out"}
_RESULT = {"ResultSelector": {"value.$": "$.Payload"}, "ResultPath": "$.result"}
_ASSIGN = {"Assign": {"total.$": "$.total", "fixed": [1, {"x.$": "$$.Execution.Id"}]}}
_ASSIGN_JSONATA = {"Assign": {"total": "{% $states.input.total %}", "fixed": [1, {"x": None}]}}
_OUTPUT = {"Output": {"sum": "{% $sum($states.input.n) %}", "list": ["{% $total %}", 1]}}
_RETRY = {
    "Retry": [
        {
            "ErrorEquals": ["Busy", "States.Timeout"],
            "IntervalSeconds": 2,
            "MaxAttempts": 0,
            "BackoffRate": 1.5,
            "MaxDelaySeconds": 30,
            "JitterStrategy": "FULL",
            "Comment": "a retrier",
        },
        {"ErrorEquals": ["States.ALL"]},
    ]
}
_CATCH = {
    "Catch": [
        {"ErrorEquals": ["Bad"], "Next": "Last", "ResultPath": "$.error", **_ASSIGN},
        {"ErrorEquals": ["States.ALL"], "Next": "Last", "Comment": "a catcher"},
    ]
}
_CATCH_JSONATA = {
    "Catch": [
        {
            "ErrorEquals": ["States.ALL"],
            "Next": "Last",
            "Output": "{% $states.errorOutput %}",
            **_ASSIGN_JSONATA,
        }
    ]
}
_DISTRIBUTED = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}}
_READER_CONFIG = {
    "InputType": "CSV",
    "CSVHeaderLocation": "GIVEN",
    "CSVHeaders": ["id", "name"],
    "CSVDelimiter": "PIPE",
    "MaxItems": 100,
}
_S3 = "arn:aws:states:::s3"
_WRITER = {
    "Resource": f"{_S3}:putObject",
    "WriterConfig": {"OutputType": "JSONL", "Transformation": "COMPACT"},
}

_OPERANDS = {"String": "ready", "Numeric": 3, "Timestamp": "2016-03-14T01:59:00Z"}
_ORDERS = ("Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals")
_COMPARISONS: list[dict[str, Any]] = [
    *({f"{kind}{order}": operand} for kind, operand in _OPERANDS.items() for order in _ORDERS),
    *({f"{kind}{order}Path": "$.other"} for kind in _OPERANDS for order in _ORDERS),
    {"BooleanEquals": True},
    {"BooleanEqualsPath": "$.other"},
    {"StringMatches": "log-*.txt"},
    *({f"Is{kind}": True} for kind in ("Null", "Present", "Numeric", "String", "Boolean")),
    {"IsTimestamp": False},
]

SOUND_MACHINES: dict[str, dict[str, Any]] = {
    "Task": _path(
        "Task",
        Resource=LAMBDA,
        Parameters={"FunctionName": "f", "Payload": {"id.$": "States.Format('{}', $.id)"}},
        TimeoutSeconds=60,
        HeartbeatSeconds=10,
        Credentials={"RoleArn.$": "$.role"},
        QueryLanguage="JSONPath",
        **_IO,
        **_RESULT,
        **_ASSIGN,
        **_RETRY,
        **_CATCH,
    ),
    "Task with limits from paths": _path(
        "Task",
        Resource="arn:aws:lambda:us-east-1:123456789012:function:f",
        TimeoutSecondsPath="$.limits.all",
        HeartbeatSecondsPath="$beat",
    ),
    "Task in JSONata": _jsonata(
        "Task",
        Resource=LAMBDA,
        Arguments={"FunctionName": "f", "Payload": "{% $states.input %}"},
        TimeoutSeconds="{% $states.input.limit %}",
        HeartbeatSeconds="{% $states.input.beat %}",
        Credentials={"RoleArn": "{% $states.input.role %}"},
        **_ASSIGN_JSONATA,
        **_OUTPUT,
        **_RETRY,
        **_CATCH_JSONATA,
    ),
    "Task in JSONata with fixed limits": _path(
        "Task", QueryLanguage="JSONata", Resource=LAMBDA, TimeoutSeconds=60, HeartbeatSeconds=10
    ),
    "Pass": _path("Pass", Result={"any": ["thing"]}, ResultPath="$.a[0].b", **_IO, **_ASSIGN),
    "Pass with parameters": _path("Pass", Parameters={"a.$": "$.a", "b": [{"c.$": "$$"}]}),
    "Pass in JSONata": _jsonata("Pass", **_ASSIGN_JSONATA, **_OUTPUT),
    "Wait": _path("Wait", Seconds=10, **_IO, **_ASSIGN),
    "Wait for a path": _path("Wait", SecondsPath="$.seconds"),
    "Wait until": _path("Wait", Timestamp="2016-03-14T01:59:00+01:00"),
    "Wait until a path": _path("Wait", TimestampPath="$.then"),
    "Wait in JSONata": _jsonata("Wait", Seconds="{% $states.input.s %}", **_ASSIGN_JSONATA),
    "Wait until in JSONata": _jsonata("Wait", Timestamp="{% $states.input.t %}", **_OUTPUT),
    "Choice": _path(
        "Choice",
        Choices=[
            *({"Variable": "$.v", **rule, "Next": "Last"} for rule in _COMPARISONS),
            {
                "And": [
                    {"Variable": "$.a", "IsPresent": True, "Comment": "a rule"},
                    {"Or": [{"Not": {"Variable": "$$.State.Name", "StringEquals": "S"}}]},
                ],
                "Next": "Last",
                "Comment": "rules together",
                **_ASSIGN,
            },
        ],
        Default="Last",
        **_IO,
        **_ASSIGN,
    ),
    "Choice in JSONata": _jsonata(
        "Choice",
        Choices=[
            {
                "Condition": "{% $states.input.n > 1 %}",
                "Next": "Last",
                "Comment": "a rule",
                **_ASSIGN_JSONATA,
                **_OUTPUT,
            },
            {"Condition": True, "Next": "Last"},
        ],
        Default="Last",
        **_ASSIGN_JSONATA,
        **_OUTPUT,
    ),
    "Succeed": _path("Succeed", **_IO),
    "Succeed in JSONata": _jsonata("Succeed", **_OUTPUT),
    "Fail": _path("Fail", Error="Bad", Cause="it is bad"),
    "Fail with paths": _path("Fail", ErrorPath="$.error", CausePath="States.Format('{}', $.why)"),
    "Fail in JSONata": _jsonata("Fail", Error="{% $states.input.error %}", Cause="{% 'why' %}"),
    "Parallel": _path(
        "Parallel",
        Branches=[_inner(1), _inner(2)],
        Parameters={"a.$": "$.a"},
        **_IO,
        **_RESULT,
        **_ASSIGN,
        **_RETRY,
        **_CATCH,
    ),
    "Parallel in JSONata": _jsonata(
        "Parallel",
        Branches=[_inner(1)],
        Arguments={"a": "{% $states.input.a %}"},
        **_ASSIGN_JSONATA,
        **_OUTPUT,
        **_RETRY,
        **_CATCH_JSONATA,
    ),
    "Map": _path(
        "Map",
        ItemProcessor=_inner(1, ProcessorConfig={"Mode": "INLINE"}),
        ItemsPath="$.items",
        ItemSelector={"item.$": "$$.Map.Item.Value"},
        MaxConcurrency=5,
        **_IO,
        **_RESULT,
        **_ASSIGN,
        **_RETRY,
        **_CATCH,
    ),
    "Map with its old names": _path(
        "Map", Iterator=_inner(1), Parameters={"a.$": "$.a"}, MaxConcurrencyPath="$.most"
    ),
    "Map in JSONata": _jsonata(
        "Map",
        ItemProcessor=_inner(1),
        Items="{% $states.input.items %}",
        ItemSelector={"item": "{% $states.context.Map.Item.Value %}"},
        MaxConcurrency="{% $states.input.most %}",
        **_ASSIGN_JSONATA,
        **_OUTPUT,
        **_RETRY,
        **_CATCH_JSONATA,
    ),
    "Map in JSONata with fixed items": _jsonata(
        "Map", ItemProcessor=_inner(1), Items=[1, "{% $states.input %}"], MaxConcurrency=0
    ),
    "Distributed Map": _path(
        "Map",
        ItemProcessor=_inner(1, **_DISTRIBUTED),
        ItemReader={
            "Resource": f"{_S3}:getObject",
            "ReaderConfig": _READER_CONFIG,
            "Parameters": {"Bucket": "b", "Key.$": "$.key"},
        },
        ItemBatcher={
            "MaxItemsPerBatch": 10,
            "MaxInputBytesPerBatch": 1000,
            "BatchInput": {"a.$": "$.a"},
        },
        ItemSelector={"item.$": "$$.Map.Item.Value"},
        ResultWriter={**_WRITER, "Parameters": {"Bucket": "b", "Prefix.$": "$.p"}},
        ToleratedFailureCount=5,
        ToleratedFailurePercentage=7.5,
        Label="orders-1",
    ),
    "Distributed Map with limits from paths": _path(
        "Map",
        ItemProcessor=_inner(1, **_DISTRIBUTED),
        ItemReader={
            "Resource": f"{_S3}:listObjectsV2",
            "ReaderConfig": {"MaxItemsPath": "$.most"},
            "Parameters": {"Bucket": "b"},
        },
        ItemBatcher={"MaxItemsPerBatchPath": "$.n", "MaxInputBytesPerBatchPath": "$bytes"},
        ToleratedFailureCountPath="$.count",
        ToleratedFailurePercentagePath="$.share",
    ),
    "Distributed Map in JSONata": _jsonata(
        "Map",
        ItemProcessor=_inner(1, **_DISTRIBUTED),
        ItemReader={
            "Resource": f"{_S3}:getObject",
            "ReaderConfig": {"InputType": "JSON", "MaxItems": "{% $states.input.most %}"},
            "Arguments": {"Bucket": "b", "Key": "{% $states.input.key %}"},
        },
        ItemBatcher={
            "MaxItemsPerBatch": "{% $states.input.n %}",
            "MaxInputBytesPerBatch": "{% $states.input.bytes %}",
            "BatchInput": {"a": "{% $states.input.a %}"},
        },
        ItemSelector={"item": "{% $states.context.Map.Item.Value %}"},
        ResultWriter={**_WRITER, "Arguments": {"Bucket": "b", "Prefix": "{% $states.input.p %}"}},
        ToleratedFailureCount="{% $states.input.count %}",
        ToleratedFailurePercentage="{% $states.input.share %}",
        Label="orders",
    ),
}
"""By what they show."""
