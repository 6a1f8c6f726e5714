"""AgentBinding: which agent does a Task."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, codes, parsed

BINDING = {
    "agent_template_ref": {"name": "researcher"},
    "skills": ["skill://search@1.0.0"],
    "tool_name": "web_search",
    "lifecycle": {"mode": "pooled", "destroy_on_end": False, "reuse_key": "k"},
    "approval": {"required": True},
    "budget": {"tool_calls": 5},
    "memory": {"scope": "shared", "gather": True},
    "context": {"budget": 500, "kinds": ["code"], "query": "$.ticket.text"},
    "model": {"tier": "any"},
    "task_type": "refund",
}


def test_a_binding_stands_instead_of_a_resource() -> None:
    state = parsed({"Type": "Task", "AgentBinding": BINDING})

    assert state.binding == BINDING
    assert state.resource is None


def test_a_binding_stands_beside_a_resource() -> None:
    state = parsed({"Type": "Task", "Resource": "r", "AgentBinding": {"agent_ref": {"id": "a-1"}}})

    assert (state.resource, state.binding) == ("r", {"agent_ref": {"id": "a-1"}})


def test_an_empty_reference_and_a_null_reuse_key_are_fine() -> None:
    binding = {"agent_ref": {}, "lifecycle": {"mode": "ephemeral", "reuse_key": None}}

    assert codes(alone({"Type": "Task", "AgentBinding": binding})) == []


@pytest.mark.parametrize(
    ("binding", "code", "place"),
    [
        ("agent", "ASL_WRONG_TYPE", ""),
        ({"skils": []}, "ASL_UNKNOWN_FIELD", "/skils"),
        ({"skills": "one"}, "ASL_WRONG_TYPE", "/skills"),
        ({"skills": ["a", 1]}, "ASL_WRONG_TYPE", "/skills/1"),
        ({"tool_name": ""}, "ASL_OUT_OF_RANGE", "/tool_name"),
        ({"agent_ref": "a-1"}, "ASL_WRONG_TYPE", "/agent_ref"),
        (
            {"agent_template_ref": {"nam": "x", "id": "1"}},
            "ASL_UNKNOWN_FIELD",
            "/agent_template_ref/nam",
        ),
        ({"task_type": ""}, "ASL_OUT_OF_RANGE", "/task_type"),
        ({"approval": {"any_of": "yes"}}, "ASL_WRONG_TYPE", "/approval/any_of"),
        ({"approval": {"timeout_s": 0}}, "ASL_OUT_OF_RANGE", "/approval/timeout_s"),
        ({"tier": 4}, "ASL_OUT_OF_RANGE", "/tier"),
        ({"tier": "2"}, "ASL_WRONG_TYPE", "/tier"),
        ({"approval": {"only": True}}, "ASL_FIELD_CLASH", "/approval/only"),
        (
            {"tool_name": "pay", "approval": {"required": True, "only": True}},
            "ASL_FIELD_CLASH",
            "/tool_name",
        ),
        ({"memory": "shared"}, "ASL_WRONG_TYPE", "/memory"),
        ({"memory": {"scope": 1}}, "ASL_WRONG_TYPE", "/memory/scope"),
        ({"memory": {"scope": "sharde"}}, "ASL_OUT_OF_RANGE", "/memory/scope"),
        ({"memory": {"scpoe": "none"}}, "ASL_UNKNOWN_FIELD", "/memory/scpoe"),
        ({"memory": {"gather": "yes"}}, "ASL_WRONG_TYPE", "/memory/gather"),
        ({"memory": {"scope": "none", "gather": True}}, "ASL_FIELD_CLASH", "/memory/gather"),
        ({"context": True}, "ASL_WRONG_TYPE", "/context"),
        ({"context": {"tokens": 500}}, "ASL_UNKNOWN_FIELD", "/context/tokens"),
        ({"context": {"budget": "500"}}, "ASL_WRONG_TYPE", "/context/budget"),
        ({"context": {"budget": 99}}, "ASL_OUT_OF_RANGE", "/context/budget"),
        ({"context": {"kinds": "code"}}, "ASL_WRONG_TYPE", "/context/kinds"),
        ({"context": {"kinds": []}}, "ASL_OUT_OF_RANGE", "/context/kinds"),
        ({"context": {"kinds": ["code", 1]}}, "ASL_WRONG_TYPE", "/context/kinds/1"),
        ({"context": {"kinds": ["documents"]}}, "ASL_OUT_OF_RANGE", "/context/kinds/0"),
        ({"context": {"query": ""}}, "ASL_OUT_OF_RANGE", "/context/query"),
        ({"context": {"query": "$.a[*]"}}, "ASL_BAD_REFERENCE_PATH", "/context/query"),
        ({"lifecycle": {"mode": "forever"}}, "ASL_OUT_OF_RANGE", "/lifecycle/mode"),
        ({"lifecycle": {"destroy": True}}, "ASL_UNKNOWN_FIELD", "/lifecycle/destroy"),
    ],
)
def test_a_bad_binding_is_refused_where_it_is_bad(binding: Any, code: str, place: str) -> None:
    found = codes(alone({"Type": "Task", "AgentBinding": binding}))

    assert found == [(code, f"/States/S/AgentBinding{place}")]


def test_an_approval_without_work_names_no_resource() -> None:
    binding = {"approval": {"required": True, "only": True}}

    found = codes(alone({"Type": "Task", "Resource": "pay", "AgentBinding": binding}))

    assert ("ASL_FIELD_CLASH", "/States/S/Resource") in found
