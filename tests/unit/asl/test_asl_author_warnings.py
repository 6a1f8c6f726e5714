"""What AWS accepts and an author hardly means: warnings, and nothing but warnings."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import parse, validate

SQS = "arn:aws:states:::sqs:sendMessage"
LAMBDA = "arn:aws:states:::lambda:invoke"


def warnings(definition: dict[str, Any]) -> list[tuple[str, str]]:
    problems = validate(definition)
    assert not [p for p in problems if p.is_error]
    assert parse(definition)
    return [(p.code, p.path) for p in problems]


def one(state_type: str, **fields: Any) -> dict[str, Any]:
    return machine_of(A={"Type": state_type, "End": True, **fields})


@pytest.mark.parametrize("text", ["$.id", "$$.Execution.Id", "$['id']", "States.UUID()"])
def test_a_path_without_a_dollar_in_the_name(text: str) -> None:
    definition = one("Pass", Parameters={"order": {"id": text}})

    assert warnings(definition) == [("ASL_CONSTANT_PATH", "/States/A/Parameters/order/id")]


@pytest.mark.parametrize("text", ["$5.00", "$", "text", "$HOME", "States.ALL", "{}"])
def test_other_texts_are_texts(text: str) -> None:
    assert warnings(one("Pass", Parameters={"order": {"id": text}})) == []


def test_a_result_is_not_evaluated() -> None:
    definition = one("Pass", Result={"id.$": "$.id", "name": "$.name"})

    assert warnings(definition) == [
        ("ASL_STATIC_RESULT", "/States/A/Result/id.$"),
        ("ASL_STATIC_RESULT", "/States/A/Result/name"),
    ]


def test_jsonata_in_a_jsonpath_state() -> None:
    definition = one("Pass", Parameters={"id": "{% $states.input.id %}"})

    assert warnings(definition) == [("ASL_JSONATA_IN_JSONPATH", "/States/A/Parameters/id")]


def test_a_binding_without_skills() -> None:
    definition = one("Task", AgentBinding={"skills": []})

    assert warnings(definition) == [("ASL_NO_SKILLS", "/States/A/AgentBinding/skills")]


def chain(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return machine_of(A={**first, "Next": "B"}, B={**second, "End": True})


@pytest.mark.parametrize(
    "first",
    [
        {"Type": "Task", "Resource": LAMBDA},
        {"Type": "Task", "Resource": SQS, "ResultSelector": {"id.$": "$.id"}},
        {"Type": "Pass", "Result": {"id": 1}},
        {"Type": "Pass", "Parameters": {"id.$": "$.id"}},
    ],
)
def test_a_field_that_the_state_before_dropped(first: dict[str, Any]) -> None:
    definition = chain(first, {"Type": "Pass", "Parameters": {"total.$": "$.total"}})

    assert warnings(definition) == [("ASL_DROPPED_FIELD", "/States/B/Parameters/total.$")]


@pytest.mark.parametrize(
    "first",
    [
        {"Type": "Task", "Resource": SQS},
        {"Type": "Task", "Resource": LAMBDA, "ResultPath": "$.result"},
        {"Type": "Task", "Resource": LAMBDA, "OutputPath": "$.Payload"},
        {"Type": "Pass", "Result": {"total": 1}},
        {"Type": "Pass"},
        {"Type": "Wait", "Seconds": 1},
    ],
)
def test_nothing_is_said_where_it_is_not_certain(first: dict[str, Any]) -> None:
    definition = chain(first, {"Type": "Pass", "Parameters": {"total.$": "$.total"}})

    assert warnings(definition) == []


MERGED = "ASL_MERGED_BRANCHES"


def _fan(first: dict[str, Any], second: dict[str, Any], **fields: Any) -> dict[str, Any]:
    branches = [machine_of(B={**first, "End": True}), machine_of(C={**second, "End": True})]
    return {"Type": "Parallel", "Branches": branches, **fields}


@pytest.mark.parametrize(
    "merged",
    ["$merge($states.result)", "$merge([$states.result[1], {'a': 1}, $states.result[0]]).status"],
)
def test_a_member_that_two_merged_branches_write(merged: str) -> None:
    writes = {"Type": "Pass", "Output": {"status": 1, "own": 2}}
    others = {"Type": "Pass", "Output": {"status": 1, "other": 2}}
    fan = _fan(writes, others, Output=f"{{% {merged} %}}", End=True)
    places = [f"/States/A/Branches/{at}/Output/status" for at in ("0/States/B", "1/States/C")]

    problems = validate({"QueryLanguage": "JSONata", **machine_of(A=fan)})

    assert sorted((one.code, one.path) for one in problems) == [(MERGED, at) for at in places]
    assert all(
        {"/States/A/Output", *places} - {one.path} <= set(one.message.replace(",", "").split())
        for one in problems
    )


def test_a_member_that_two_branches_put_into_their_input() -> None:
    task = {"Type": "Task", "Resource": LAMBDA, "ResultPath": "$.status.code"}
    merge = {"Type": "Pass", "Parameters": {"all.$": "States.JsonMerge($.x[0], $.x[1], false)"}}
    fan = _fan(task, task, ResultPath="$.x", Next="M")

    assert warnings(machine_of(A=fan, M={**merge, "End": True})) == [
        (MERGED, "/States/A/Branches/0/States/B/ResultPath"),
        (MERGED, "/States/A/Branches/1/States/C/ResultPath"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"Output": "{% $states.result[0] %}"},
        {"Output": "{% $merge([$states.result[0], $states.input]) %}"},
        {"Output": {"status": "{% $states.result.status %}"}},
    ],
)
def test_branches_that_nobody_merges(fields: dict[str, Any]) -> None:
    writes = {"Type": "Pass", "Output": {"status": 1}}
    fan = _fan(writes, writes, **fields, End=True)

    assert warnings({"QueryLanguage": "JSONata", **machine_of(A=fan)}) == []
