"""``memory``: which node of the memory a state works in."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, codes, machine_of, parsed

from dcf.asl import MemoryPolicy, validate

_INNER = {"StartAt": "I", "States": {"I": {"Type": "Pass", "End": True}}}
_JOINS: dict[str, dict[str, Any]] = {
    "Map": {"Type": "Map", "ItemProcessor": _INNER},
    "Parallel": {"Type": "Parallel", "Branches": [_INNER]},
}


def test_a_state_without_a_policy_has_none() -> None:
    assert parsed({"Type": "Task", "AgentBinding": {}}).memory is None
    assert [parsed(one).memory for one in _JOINS.values()] == [None, None]


def test_the_policy_of_a_task_stands_in_its_binding() -> None:
    binding = {"memory": {"scope": "shared", "gather": True}}

    state = parsed({"Type": "Task", "AgentBinding": binding})

    assert state.memory == MemoryPolicy("shared", gather=True)
    assert parsed({"Type": "Task", "AgentBinding": {"memory": {}}}).memory == MemoryPolicy()


def test_a_task_says_what_of_its_result_its_node_keeps() -> None:
    memory = {"note": "$.found.text", "score": "$.points[1]"}

    policy = parsed({"Type": "Task", "AgentBinding": {"memory": memory}}).memory

    assert policy is not None
    result = {"found": {"text": " It holds. "}, "points": [1, 2.5]}
    assert (policy.noted(result), policy.scored(result)) == ("It holds.", 2.5)
    huge = {"found": {"text": ""}, "points": [1, 10**400]}
    for other in (
        {},
        huge,
        {"found": "text", "points": [1]},
        {"found": {"text": 1}, "points": [1, "2"]},
    ):
        assert (policy.noted(other), policy.scored(other)) == ("", None)


@pytest.mark.parametrize(
    ("memory", "code", "place"),
    [
        ({"note": 1}, "ASL_WRONG_TYPE", "/note"),
        ({"score": "$.points[*]"}, "ASL_BAD_REFERENCE_PATH", "/score"),
        ({"scope": "none", "note": "$.text"}, "ASL_FIELD_CLASH", "/note"),
    ],
)
def test_what_cannot_be_kept_is_refused(memory: dict[str, Any], code: str, place: str) -> None:
    found = codes(alone({"Type": "Task", "AgentBinding": {"memory": memory}}))

    assert found == [(code, f"/States/S/AgentBinding/memory{place}")]


def test_what_a_task_is_to_keep_inside_of_one_without_memory_is_warned_of() -> None:
    def task(**memory: Any) -> dict[str, Any]:
        return {"Type": "Task", "AgentBinding": {"memory": memory}, "End": True}

    def mapped(inner: dict[str, Any], **fields: Any) -> dict[str, Any]:
        machine = {"StartAt": "I", "States": {"I": inner}}
        return {"Type": "Map", "ItemProcessor": machine, "End": True, **fields}

    none = {"memory": {"scope": "none"}}
    kept = task(note="$.a", score="$.b", gather=True)
    inside = {"StartAt": "J", "States": {"J": kept}}
    parallel = {"Type": "Parallel", "Branches": [inside], "End": True}
    at = "/States/S/ItemProcessor/States/I"

    found = codes(machine_of(S=mapped(parallel, **none)))
    deep = f"{at}/Branches/0/States/J/AgentBinding/memory"
    assert found == [("ASL_NO_MEMORY", f"{deep}/{one}") for one in ("gather", "note", "score")]
    (problem,) = validate(machine_of(S=mapped(task(note="$.a", scope="shared"), **none)))
    assert (problem.severity, problem.path) == ("warning", f"{at}/AgentBinding/memory/note")
    assert "`S` around it has the memory scope `none`" in problem.message
    for sound in (mapped(kept), mapped(task(gather=False), **none), mapped(task(), **none)):
        assert codes(machine_of(S=sound)) == []


@pytest.mark.parametrize("kind", _JOINS)
def test_that_of_a_map_or_parallel_stands_beside_it(kind: str) -> None:
    state = parsed({**_JOINS[kind], "memory": {"scope": "none"}})

    assert state.memory == MemoryPolicy("none")


@pytest.mark.parametrize("kind", _JOINS)
@pytest.mark.parametrize(
    ("policy", "code", "place"),
    [
        ([], "ASL_WRONG_TYPE", ""),
        ({"scope": "own"}, "ASL_OUT_OF_RANGE", "/scope"),
        ({"gather": True}, "ASL_UNKNOWN_FIELD", "/gather"),
    ],
)
def test_a_bad_policy_is_refused_where_it_is_bad(
    kind: str, policy: Any, code: str, place: str
) -> None:
    found = codes(alone({**_JOINS[kind], "memory": policy}))

    assert found == [(code, f"/States/S/memory{place}")]


@pytest.mark.parametrize("state", [{"Type": "Task", "Resource": "r"}, {"Type": "Pass"}])
def test_a_policy_elsewhere_is_told_where_it_belongs(state: dict[str, Any]) -> None:
    (problem,) = validate(alone({**state, "memory": {}}))

    assert (problem.code, problem.path) == ("ASL_UNKNOWN_FIELD", "/States/S/memory")
    assert problem.hint == "it stands in the `AgentBinding` of a Task, and in a Map or Parallel"


def test_a_misspelt_scope_is_asked_about() -> None:
    (problem,) = validate(alone({**_JOINS["Map"], "memory": {"scope": "brnach"}}))

    assert problem.hint == "did you mean `branch`?"
