"""A Task that a person does: what its form allows, and what an answer has to be."""

from __future__ import annotations

from typing import Any

import pytest

from dcf import asl
from dcf.asl import ManualTask

TICKET = {
    "type": "object",
    "properties": {"ticket": {"type": "string"}, "size": {"enum": [3, 4]}},
    "required": ["ticket"],
}


def problems(manual: Any, binding: dict[str, Any] | None = None, **state: Any) -> list[str]:
    """``pointer code`` of each problem of a Task with this ``manual``."""
    whole = {"Type": "Task", "Comment": "Restart it.", "End": True, **state}
    whole["AgentBinding"] = {"manual": manual, **(binding or {})}
    found = asl.validate({"StartAt": "S", "States": {"S": whole}})
    return [f"{one.path.removeprefix('/States/S')} {one.code}" for one in found]


def manual(**members: Any) -> ManualTask:
    state = {"Type": "Task", "Comment": "Do it.", "End": True, "AgentBinding": {"manual": members}}
    found = asl.parse({"StartAt": "S", "States": {"S": state}}).states["S"].manual
    assert found is not None
    return found


def test_all_of_it_may_be_left_out_and_all_may_be_said() -> None:
    assert problems({}) == []
    whole = {"by": ["dba", "sre"], "choices": ["yes", "no"], "result": TICKET}
    assert problems(whole, {"task_type": "manual"}, TimeoutSeconds=60) == []
    assert manual(**whole) == ManualTask(("dba", "sre"), ("yes", "no"), TICKET)


def test_what_only_an_agent_can_have_stands_beside_no_manual_task() -> None:
    work = {"skills": ["a@1.0.0"], "approval": {"required": True}, "budget": {"tool_calls": 1}}

    assert problems({}, work, Resource="a:b", HeartbeatSeconds=5) == [
        "/AgentBinding/skills ASL_FIELD_CLASH",
        "/AgentBinding/approval ASL_FIELD_CLASH",
        "/AgentBinding/budget ASL_FIELD_CLASH",
        "/Resource ASL_FIELD_CLASH",
        "/HeartbeatSeconds ASL_FIELD_CLASH",
    ]


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"bye": 1}, "/bye ASL_UNKNOWN_FIELD"),
        ({"by": "dba"}, "/by ASL_WRONG_TYPE"),
        ({"by": []}, "/by ASL_OUT_OF_RANGE"),
        ({"choices": ["a", ""]}, "/choices/1 ASL_WRONG_TYPE"),
        ({"choices": ["a", "a"]}, "/choices/1 ASL_OUT_OF_RANGE"),
        ({"result": {"type": "strin"}}, "/result/type ASL_WRONG_TYPE"),
        ({"result": {"type": "string"}}, "/result ASL_OUT_OF_RANGE"),
        (
            {"result": {"type": "object", "properties": {"by": {}}}},
            "/result/properties/by ASL_OUT_OF_RANGE",
        ),
    ],
)
def test_each_fault_is_told_where_it_stands(wrong: dict[str, Any], found: str) -> None:
    assert problems(wrong) == [f"/AgentBinding/manual{found}"]


def test_nobody_can_do_what_is_not_said() -> None:
    assert problems({}, Comment="") == [" ASL_MISSING_FIELD"]


@pytest.mark.parametrize(
    ("answer", "reported", "faults"),
    [
        ("yes", {"ticket": "OPS-1"}, []),
        ("yes", {"ticket": "OPS-1", "more": 1}, []),
        (None, {"ticket": "OPS-1"}, ["one of the choices has to be picked: yes, no"]),
        ("Yes", {"ticket": "OPS-1"}, ["'Yes' is none of the choices: yes, no"]),
        ("no", {}, ["'ticket' is a required property"]),
        ("no", {"ticket": 1}, ["ticket: 1 is not of type 'string'"]),
        ("no", ["OPS-1"], ["what is reported is an object, found array"]),
        (
            "no",
            {"ticket": "OPS-1", "by": "me"},
            ["`by` is filled in by itself and cannot be reported"],
        ),
    ],
)
def test_an_answer_is_one_of_the_choices_and_fits_the_schema(
    answer: str | None, reported: Any, faults: list[str]
) -> None:
    assert manual(choices=["yes", "no"], result=TICKET).faults(answer, reported) == faults


def test_without_choices_nothing_is_chosen() -> None:
    found = manual().faults("yes", {})

    assert found == ["there is nothing to choose, and 'yes' was chosen"]


def test_where_nobody_is_asked_the_first_choice_and_the_least_values_are_taken() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"enum": ["x"]},
            "c": {"default": 5},
            "d": {},
        },
        "required": ["a", "b", "c"],
    }
    found = manual(by=["dba"], choices=["done", "left"], result=schema)

    assert found.assumed() == {
        "a": 0, "b": "x", "c": 5, "answer": "done", "by": "dba", "note": "assumed", "at": 0,
    }  # fmt: skip
    assert found.faults("done", {"a": 0, "b": "x", "c": 5}) == []
