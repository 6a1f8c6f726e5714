"""Rules of definitions as AWS has them, each with one definition that breaks it and one that
does not."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import validate

LAMBDA = "arn:aws:states:::lambda:invoke"
INNER = machine_of(B={"Type": "Pass", "End": True})
DISTRIBUTED = {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, **INNER}
READER = {"Resource": "arn:aws:states:::s3:getObject", "Parameters": {"Bucket": "b", "Key": "k"}}


def one(state_type: str, **fields: Any) -> dict[str, Any]:
    return machine_of(A={"Type": state_type, "End": True, **fields})


def errors(definition: dict[str, Any], **how: Any) -> list[tuple[str, str]]:
    return [(p.code, p.path) for p in validate(definition, **how) if p.is_error]


def jsonata(definition: dict[str, Any]) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", **definition}


@pytest.mark.parametrize(
    ("definition", "code", "path"),
    [
        (
            one("Task", Resource=LAMBDA, TimeoutSeconds=1, TimeoutSecondsPath="$.t"),
            "ASL_FIELD_CLASH",
            "/States/A/TimeoutSecondsPath",
        ),
        (
            one("Map", ItemProcessor=INNER, MaxConcurrency=1, MaxConcurrencyPath="$.t"),
            "ASL_FIELD_CLASH",
            "/States/A/MaxConcurrencyPath",
        ),
        (
            one("Map", ItemProcessor=INNER, MaxConcurrencyPath="$$.Execution.Input.n"),
            "ASL_BAD_REFERENCE_PATH",
            "/States/A/MaxConcurrencyPath",
        ),
        (
            one("Map", ItemProcessor=INNER, ItemsPath="$.orders[?(@.open)]"),
            "ASL_BAD_REFERENCE_PATH",
            "/States/A/ItemsPath",
        ),
        (
            one("Task", Resource=LAMBDA, Credentials={}),
            "ASL_MISSING_FIELD",
            "/States/A/Credentials",
        ),
        (
            one(
                "Task",
                Resource="arn:aws:states:us-east-1:1:activity:x",
                Credentials={"RoleArn": "arn:aws:iam::1:role/r"},
            ),
            "ASL_FIELD_CLASH",
            "/States/A/Credentials",
        ),
        (one("Map", ItemProcessor=INNER, Label="x"), "ASL_NOT_DISTRIBUTED", "/States/A/Label"),
        (
            one("Map", ItemProcessor=INNER, ItemBatcher={"MaxItemsPerBatch": 1}),
            "ASL_NOT_DISTRIBUTED",
            "/States/A/ItemBatcher",
        ),
        (
            one("Map", ItemProcessor=INNER, ToleratedFailureCount=-1),
            "ASL_OUT_OF_RANGE",
            "/States/A/ToleratedFailureCount",
        ),
        (
            one("Map", ItemProcessor={"ProcessorConfig": {"Mode": "DISTRIBUTED"}, **INNER}),
            "ASL_MISSING_FIELD",
            "/States/A/ItemProcessor/ProcessorConfig",
        ),
        (
            one(
                "Map",
                ItemProcessor={
                    "ProcessorConfig": {"Mode": "INLINE", "ExecutionType": "EXPRESS"},
                    **INNER,
                },
            ),
            "ASL_NOT_DISTRIBUTED",
            "/States/A/ItemProcessor/ProcessorConfig/ExecutionType",
        ),
        (
            one(
                "Map",
                ItemProcessor=DISTRIBUTED,
                ItemReader={**READER, "ReaderConfig": {"InputType": "CSV"}},
            ),
            "ASL_MISSING_FIELD",
            "/States/A/ItemReader/ReaderConfig",
        ),
        (
            one(
                "Map",
                ItemProcessor=DISTRIBUTED,
                ItemBatcher={"MaxItemsPerBatch": 2, "MaxItemsPerBatchPath": "$.n"},
            ),
            "ASL_FIELD_CLASH",
            "/States/A/ItemBatcher/MaxItemsPerBatchPath",
        ),
        (
            one("Parallel", Branches=[{"QueryLanguage": "JSONata", **INNER}]),
            "ASL_UNKNOWN_FIELD",
            "/States/A/Branches/0/QueryLanguage",
        ),
        (
            jsonata(one("Pass", QueryLanguage="JSONPath")),
            "ASL_QUERY_LANGUAGE_REVERTED",
            "/States/A",
        ),
        (one("Pass", Output={}), "ASL_WRONG_QUERY_LANGUAGE", "/States/A/Output"),
        (jsonata(one("Pass", Result=1)), "ASL_WRONG_QUERY_LANGUAGE", "/States/A/Result"),
        (one("Pass", Assign={"states": 1}), "ASL_BAD_VARIABLE_NAME", "/States/A/Assign/states"),
        (one("Pass", Assign={"a-b.$": "$"}), "ASL_BAD_VARIABLE_NAME", "/States/A/Assign/a-b.$"),
        (
            one("Pass", Assign={"a" * 81: 1}),
            "ASL_BAD_VARIABLE_NAME",
            f"/States/A/Assign/{'a' * 81}",
        ),
        (
            jsonata(one("Pass", Output={"v": "{% phone %}"})),
            "ASL_UNSUPPORTED_JSONATA",
            "/States/A/Output/v",
        ),
        (
            jsonata(one("Pass", Output="{% [$.phone, $states.input.items[$.n > 1]] %}")),
            "ASL_UNSUPPORTED_JSONATA",
            "/States/A/Output",
        ),
        (
            jsonata(one("Pass", Output="{% $$.phone %}")),
            "ASL_UNSUPPORTED_JSONATA",
            "/States/A/Output",
        ),
        (
            jsonata(one("Pass", Output="{% $states.errorOutput.Error %}")),
            "ASL_UNSUPPORTED_JSONATA",
            "/States/A/Output",
        ),
        (jsonata(one("Pass", Output=["{% 1 "])), "ASL_UNCLOSED_JSONATA", "/States/A/Output/0"),
        (jsonata(one("Pass", Output=["1 %}"])), "ASL_UNCLOSED_JSONATA", "/States/A/Output/0"),
    ],
)
def test_what_aws_refuses_is_an_error(definition: dict[str, Any], code: str, path: str) -> None:
    assert errors(definition) == [(code, path)]


@pytest.mark.parametrize(
    "definition",
    [
        {"TimeoutSeconds": 0, **one("Pass")},
        one("Task", Resource=LAMBDA, Retry=[{"ErrorEquals": ["E"], "IntervalSeconds": 0}]),
        one("Task", Resource=LAMBDA, Retry=[{"ErrorEquals": ["E"], "MaxDelaySeconds": 31622400}]),
        one("Task", Resource=LAMBDA, Retry=[], Catch=[]),
        one("Task", Resource="${MailFunctionArn}"),
        one("Task", Resource=LAMBDA, Credentials={"RoleArn.$": "$.role"}),
        one("Map", ItemProcessor=INNER, ItemsPath="$$.Execution.Input.orders"),
        one("Map", Iterator=INNER, Parameters={"item.$": "$$.Map.Item.Value"}),
        one("Map", ItemProcessor=DISTRIBUTED, Label="orders-1_b"),
        one("Pass", Assign={"größe": 1, "a_1.$": "$.a"}),
        one("Pass", InputPath=None, ResultPath=None, OutputPath=None),
        jsonata(one("Pass", Output="{% $states.input.items[price > 3].name %}")),
        jsonata(one("Pass", Output="{% $map($states.input.a, function($v) { $v * 2 }) %}")),
        jsonata(one("Pass", Output="{% $states.input.items[$.price > 3].{'n': $.name} %}")),
        jsonata(one("Task", Resource=LAMBDA, TimeoutSeconds="{% $states.input.limit %}")),
        one("Pass", QueryLanguage="JSONata", Output="{% $states.input %}"),
        machine_of(A={"Type": "Pass", "Next": "B", "End": False}, B={"Type": "Succeed"}),
    ],
)
def test_what_aws_accepts_is_no_error(definition: dict[str, Any]) -> None:
    assert errors(definition) == []


def test_the_language_of_a_map_is_not_that_of_the_states_inside() -> None:
    inner = machine_of(B={"Type": "Pass", "Output": {}, "End": True})
    definition = one("Map", QueryLanguage="JSONata", ItemProcessor=inner)

    path = "/States/A/ItemProcessor/States/B/Output"
    assert errors(definition) == [("ASL_WRONG_QUERY_LANGUAGE", path)]


def test_the_error_output_is_there_in_a_catcher() -> None:
    catcher = {
        "ErrorEquals": ["States.ALL"],
        "Output": {"why": "{% $states.errorOutput.Error %}"},
        "Next": "B",
    }
    definition = machine_of(
        A={"Type": "Task", "Resource": LAMBDA, "Catch": [catcher], "End": True},
        B={"Type": "Succeed"},
    )

    assert errors(jsonata(definition)) == []


@pytest.mark.parametrize("suffix", [".sync", ".sync:2", ".waitForTaskToken"])
def test_an_express_machine_waits_for_nobody(suffix: str) -> None:
    definition = one("Task", Resource=f"arn:aws:states:::states:startExecution{suffix}")

    assert errors(definition) == []
    found = [("ASL_EXPRESS_UNSUPPORTED", "/States/A/Resource")]
    assert errors(definition, type="EXPRESS") == found


def test_children_of_an_express_map_are_express() -> None:
    callback = {"Type": "Task", "Resource": f"{LAMBDA}.waitForTaskToken", "End": True}
    config = {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"}
    definition = one("Map", ItemProcessor={"ProcessorConfig": config, **machine_of(B=callback)})

    path = "/States/A/ItemProcessor/States/B/Resource"
    assert errors(definition) == [("ASL_EXPRESS_UNSUPPORTED", path)]


@pytest.mark.parametrize(
    "fields",
    [{"Resource": "send-mail"}, {"AgentBinding": {"skills": ["mail@1.0.0"]}, "Resource": LAMBDA}],
)
def test_extensions_are_errors_only_where_the_machine_is_for_aws(fields: dict[str, Any]) -> None:
    definition = one("Task", **fields)

    assert errors(definition) == []
    assert [code for code, _ in errors(definition, only_aws=True)] == ["ASL_NOT_ON_AWS"]


def test_a_policy_for_the_memory_of_branches_is_an_extension_too() -> None:
    branch = machine_of(B={"Type": "Pass", "End": True})
    definition = one("Parallel", Branches=[branch], memory={"scope": "shared"})

    assert errors(definition) == []
    assert errors(definition, only_aws=True) == [("ASL_NOT_ON_AWS", "/States/A/memory")]


def test_a_choice_rule_speaks_the_language_of_its_state() -> None:
    def choice(rule: dict[str, Any]) -> dict[str, Any]:
        state = {"Type": "Choice", "Choices": [{**rule, "Next": "Z"}], "Default": "Z"}
        return machine_of(A=state, Z={"Type": "Succeed"})

    comparison = {"Variable": "$.n", "NumericEquals": 1}
    place = "/States/A/Choices/0"

    assert errors(choice(comparison)) == []
    assert errors(jsonata(choice({"Condition": "{% $states.input.n = 1 %}"}))) == []
    assert errors(jsonata(choice(comparison))) == [
        ("ASL_WRONG_QUERY_LANGUAGE", f"{place}/Variable"),
        ("ASL_WRONG_QUERY_LANGUAGE", f"{place}/NumericEquals"),
    ]
    assert errors(choice({"Condition": "{% true %}", **comparison})) == [
        ("ASL_WRONG_QUERY_LANGUAGE", f"{place}/Condition")
    ]
