"""What changed between two versions, and the version number it asks for (Semantic Versioning
2.0.0: incompatible is major, added is minor, mended is patch)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dcf.skills import Manifest
from dcf.skills.comparison import (
    Change,
    compare_skills,
    compare_trees,
    is_enough,
    next_version,
    renew_pins,
    schema_changes,
    step_between,
    tool_pin,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"cups": {"type": "integer", "minimum": 1}, "tea": {"enum": ["green", "black"]}},
    "required": ["cups"],
}


def tool(name: str = "boil", schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "toolName": name,
        "description": "",
        "definition": {"type": "mcp_server", "serverId": "kettle", "toolName": name},
        "json_schema": {"name": name, "description": "d", "parameters": schema or SCHEMA},
        **more,
    }


def data(text: str = "Three minutes.", to: str = "archival_memory") -> dict[str, Any]:
    content = {"type": "text_content", "text": text}
    return {"dataSourceId": "notes", "destination": to, "content": content}


def skill(version: str = "1.0.0", name: str = "tea.brew", **members: Any) -> Manifest:
    base = {
        "manifestApiVersion": "v2.1.0",
        "skillPackageId": None,
        "manifestId": f"skill.{name}@{version}",
        "skillName": name,
        "skillVersion": version,
        "skillDirectives": "Boil, then wait.",
        "description": "Tea.",
        "permissions": {"egress": "intranet", "secrets": ["KEY"], "riskLevel": "medium"},
        "requiredTools": [tool()],
        "requiredDataSources": [data()],
        "dependencies": ["cup@^1"],
    }
    return Manifest.from_document({**base, **members})


def rights(**members: Any) -> dict[str, Any]:
    base = {"egress": "intranet", "secrets": ["KEY"], "riskLevel": "medium"}
    return {"permissions": {**base, **members}}


CASES = [
    ({}, None, "none"),
    ({"skillDirectives": "Boil, then wait!"}, "directives", "minor"),
    ({"skillDirectives": "Boil,  then\nwait."}, "directives", "patch"),
    ({"description": "Brew."}, "description", "patch"),
    ({"tags": ["x"]}, "tags", "patch"),
    (rights(egress="internet"), "egress_widened", "major"),
    (rights(egress="none"), "egress_narrowed", "minor"),
    (rights(riskLevel="high"), "riskLevel_widened", "major"),
    (rights(riskLevel="low"), "riskLevel_narrowed", "minor"),
    (rights(secrets=["KEY", "OTHER"]), "secret_added", "major"),
    (rights(secrets=[]), "secret_removed", "minor"),
    (rights(files=["src"]), "file_added", "major"),
    ({"requiredTools": []}, "tool_removed", "major"),
    ({"requiredTools": [tool(), tool("pour")]}, "tool_required", "major"),
    ({"requiredTools": [tool(), tool("pour", required=False)]}, "tool_added", "minor"),
    ({"requiredTools": [tool(required=False)]}, "tool_optional", "minor"),
    ({"requiredTools": [tool(idempotent=True)]}, "tool_idempotent", "minor"),
    ({"dependencies": []}, "dependency_removed", "major"),
    ({"dependencies": ["cup@^1", "milk"]}, "dependency_added", "minor"),
    ({"dependencies": ["cup@^2"]}, "dependency_changed", "minor"),
    ({"requiredDataSources": []}, "data_removed", "minor"),
    ({"requiredDataSources": [data("Four.")]}, "data_changed", "patch"),
    ({"requiredDataSources": [data(to="working_memory")]}, "data_moved", "minor"),
]


@pytest.mark.parametrize(("members", "code", "bump"), CASES)
def test_each_kind_of_change_asks_for_its_bump(
    members: dict[str, Any], code: str | None, bump: str
) -> None:
    compared = compare_skills(skill(), skill(**members))
    assert [change.code for change in compared.changes] == ([code] if code else [])
    assert compared.asked == bump
    assert all(change.reason and change.text and change.place for change in compared.changes)


def test_the_greatest_change_is_told_first_and_decides() -> None:
    compared = compare_skills(skill(), skill("1.0.1", description="x", requiredTools=[]))
    assert [change.bump for change in compared.changes] == ["major", "patch"]
    assert compared.step == "patch" and not compared.is_enough
    assert compared.next_version == "2.0.0"


def changed(**members: Any) -> dict[str, Any]:
    return {**SCHEMA, **members}


def property_changed(name: str, schema: Any) -> dict[str, Any]:
    return changed(properties={**SCHEMA["properties"], name: schema})


WITHOUT_TEA = changed(properties={"cups": SCHEMA["properties"]["cups"]})
SCHEMAS = [
    (property_changed("milk", {"type": "boolean"}), "minor", "minor"),
    (
        {**property_changed("milk", {}), "required": ["cups", "milk"]},
        "major",
        "minor",
    ),
    (WITHOUT_TEA, "major", "major"),
    (changed(required=["cups", "tea"]), "major", "minor"),
    (changed(required=[]), "minor", "major"),
    (property_changed("tea", {"enum": ["green"]}), "major", "minor"),
    (property_changed("tea", {"enum": ["green", "black", "red"]}), "minor", "major"),
    (property_changed("tea", {}), "minor", "major"),
    (property_changed("cups", {"type": "number", "minimum": 1}), "minor", "major"),
    (property_changed("cups", {"type": "string", "minimum": 1}), "major", "minor"),
    (property_changed("cups", {"type": "integer", "minimum": 2}), "major", "minor"),
    (property_changed("cups", {"type": "integer", "minimum": 0}), "minor", "major"),
    (property_changed("cups", {"type": "integer"}), "minor", "major"),
    (changed(additionalProperties=False), "major", "minor"),
    (changed(additionalProperties=True), "none", "none"),
    (changed(patternProperties={"^x": {}}), "major", "minor"),
    (changed(title="Tea", description="x"), "patch", "patch"),
]


def asked(changes: list[Change]) -> str:
    order = ["none", "patch", "minor", "major"]
    return max((change.bump for change in changes), key=order.index, default="none")


@pytest.mark.parametrize(("after", "sent", "read"), SCHEMAS)
def test_schemas_are_judged_by_who_sends_and_who_reads(
    after: dict[str, Any], sent: str, read: str
) -> None:
    assert asked(list(schema_changes(SCHEMA, after, "x", "arguments"))) == sent
    assert asked(list(schema_changes(SCHEMA, after, "x", "answer"))) == read


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.text("ab", max_size=3),
    st.just([]),
    st.just({}),
)
SIMPLE = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["integer", "string", "number", "boolean", ["string", "null"]]),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "minimum": st.integers(-2, 2),
        "maximum": st.integers(-2, 2),
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
    },
)
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from("abc"), SIMPLE, max_size=3),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "additionalProperties": st.booleans(),
    },
)


@given(OBJECTS, OBJECTS, st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3))
def test_arguments_that_are_refused_since_always_ask_for_a_major_version(
    before: dict[str, Any], after: dict[str, Any], arguments: dict[str, Any]
) -> None:
    # What a schema only fails to forbid is no promise: a name that it has not may get a meaning.
    known = set(arguments) <= set(before.get("properties", {}))
    taken = known and Draft202012Validator(before).is_valid(arguments)
    refused_now = not Draft202012Validator(after).is_valid(arguments)
    if taken and refused_now:
        assert asked(list(schema_changes(before, after, "x", "arguments"))) == "major"


@given(OBJECTS, OBJECTS)
def test_the_same_schema_has_no_changes_and_another_has_some(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert list(schema_changes(before, before, "x", "arguments")) == []
    for change in schema_changes(before, after, "x", "answer"):
        assert change.bump in ("patch", "minor", "major")


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        ("1.2.3", "2.0.0", "major"),
        ("1.2.3", "1.3.0", "minor"),
        ("1.2.3", "1.2.4", "patch"),
        ("1.2.3", "1.2.3", "none"),
        ("1.2.3", "1.2.2", "lower"),
        ("1.2.3-rc.1", "1.2.3", "patch"),
    ],
)
def test_the_step_is_the_first_number_that_went_up(before: str, after: str, step: str) -> None:
    assert step_between(before, after) == step


@pytest.mark.parametrize(
    ("before", "after", "bump", "enough"),
    [
        ("1.0.0", "1.1.0", "minor", True),
        ("1.0.0", "2.0.0", "patch", True),
        ("1.0.0", "1.1.0", "major", False),
        ("1.0.0", "1.0.0", "patch", False),
        ("1.0.0", "1.0.0", "none", True),
        ("1.0.0", "0.9.0", "none", False),
        ("0.2.0", "0.3.0", "major", True),
        ("0.2.0", "0.2.1", "major", False),
        ("0.2.0", "0.2.1", "minor", True),
        ("2.0.0-rc.1", "2.0.0-rc.2", "major", True),
    ],
)
def test_a_version_is_enough_when_ranges_keep_their_promise(
    before: str, after: str, bump: Any, enough: bool
) -> None:
    assert is_enough(before, after, bump) is enough


VERSIONS = st.builds(
    "{}.{}.{}{}".format,
    st.integers(0, 2),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["", "-rc.1"]),
)


@given(VERSIONS, st.sampled_from(["none", "patch", "minor", "major"]))
def test_the_version_that_is_proposed_is_enough(before: str, bump: Any) -> None:
    assert is_enough(before, next_version(before, bump), bump)


def test_trees_are_compared_skill_by_skill() -> None:
    before = [skill(), skill("1.1.0"), skill(name="milk"), skill(name="old")]
    after = [
        skill(),
        skill("1.1.0", description="changed without a version"),
        skill("1.1.1", requiredTools=[]),
        skill("1.0.1", name="milk", description="x"),
        skill(name="new"),
    ]
    trees = compare_trees(before, after)
    assert trees.added == ("skill.new@1.0.0",)
    assert trees.removed == ("skill.old@1.0.0",)
    assert trees.unchanged == 1
    pairs = [(one.before.manifest_id, one.after.manifest_id) for one in trees.compared]
    assert pairs == [
        ("skill.milk@1.0.0", "skill.milk@1.0.1"),
        ("skill.tea.brew@1.1.0", "skill.tea.brew@1.1.0"),
        ("skill.tea.brew@1.1.0", "skill.tea.brew@1.1.1"),
    ]
    assert [one.after.version for one in trees.too_small] == ["1.1.0", "1.1.1"]


# --------------------------------------------------------------------------------- tools.lock

PIN, OTHER = tool_pin(SCHEMA, None), tool_pin(WITHOUT_TEA, {"type": "object"})


def lock(**tools: Any) -> dict[str, Any]:
    named = {ref.replace("_", ":"): pin for ref, pin in tools.items()}
    return {"lockVersion": 1, "tools": named}


def test_a_server_that_answers_renews_its_tools_and_no_others() -> None:
    before = lock(kettle_boil=PIN, cup_fill=PIN, kettle_old=PIN)
    seen = {"kettle": {"boil": OTHER, "pour": PIN, "secret": PIN}}
    sources = {"kettle:boil", "kettle:pour", "kettle:gone", "cup:fill"}
    renewed = renew_pins(before, seen, sources)
    assert renewed.document == lock(cup_fill=PIN, kettle_boil=OTHER, kettle_pour=PIN)
    assert list(renewed.document["tools"]) == sorted(renewed.document["tools"])
    assert {change.tool: change.status for change in renewed.changes} == {
        "kettle:boil": "changed",
        "kettle:pour": "added",
        "kettle:gone": "gone",
        "kettle:old": "dropped",
    }
    assert renewed.unknown == ("kettle:secret",)
    changed_tool = next(one for one in renewed.changes if one.status == "changed")
    assert changed_tool.bump == "major"
    assert {change.code for change in changed_tool.changes} == {"removed", "schema_narrowed"}


def test_a_silent_server_keeps_what_was_locked() -> None:
    before = lock(kettle_boil=PIN)
    renewed = renew_pins(before, {}, set())
    assert renewed.document == before and renewed.changes == ()
