"""Arguments that reach a case: they fit the schema, and no case before it takes them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dcf.skill_tests.reach import reach
from dcf.tools.stub.choosing import first_match
from dcf.tools.stub.config import build_config
from dcf.tools.stub.tool import StubTool

SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "tier": {"type": "string", "enum": ["free", "gold", "platinum"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 50},
        "when": {"type": "string", "format": "date"},
        "note": {"type": "string", "minLength": 3, "maxLength": 12},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "address": {"type": "object", "properties": {"city": {"type": "string"}}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string", "const": "none"}]},
    },
    "required": ["id", "count"],
    "additionalProperties": False,
    "$defs": {
        "line": {
            "type": "object",
            "properties": {"sku": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
            "required": ["sku", "n"],
            "additionalProperties": False,
        }
    },
}


def case(
    case_id: str, strategy: str, expr: str | None = None, value: Any = None, **more: Any
) -> Any:
    match = {"strategy": strategy, "expr": expr, "value": value}
    return {"caseId": case_id, "match": match, "response": case_id, **more}


def tool(*cases: dict[str, Any], schema: Any = SCHEMA) -> StubTool:
    entry = {"paramsSchema": schema, "cases": list(cases)}
    config, problems = build_config({"servers": {"s": {"tools": {"t": entry}}}})
    assert problems == []
    return config.servers["s"]["t"]


def reached(*cases: dict[str, Any], schema: Any = SCHEMA) -> dict[str, Any]:
    """Arguments for the last of the cases; they are checked with no part of what made them."""
    there = tool(*cases, schema=schema)
    wanted = next(one for one in there.cases if one.case_id == cases[-1]["caseId"])
    found = reach(there, wanted)
    assert found.arguments is not None, found.reason
    Draft202012Validator(schema).validate(found.arguments)
    assert first_match(there, found.arguments) is wanted
    return found.arguments


@pytest.mark.parametrize(
    "one",
    [
        case("a", "exact", "$.id", "ABC-1234"),
        case("a", "exact", "$.tier", "platinum"),
        case("a", "exact", "$.count", 50),
        case("a", "exact", "$.address.city", "Oslo"),
        case("a", "exact", "$.lines[1].sku", "X"),
        case("a", "exact", "$.lines[*].n", 7),
        case("a", "exact", "$.tags", ["x", "y"]),
        case("a", "exact", "$.either", "none"),
        case("a", "exact", None, {"id": "ABC-0001", "count": 3}),
        case("a", "jsonpath", "$.tags[0]", "x"),
        case("a", "regex", "$.id", "^Q.{2}-"),
        case("a", "regex", "$.id", "99$"),
        case("a", "regex", "$.count", "^4[0-9]$"),
        case("a", "regex", "$.tier", "^(gold|silver)$"),
        case("a", "regex", "$.note", r"\d+ (apples|pears)"),
        case("a", "regex", "$.when", r"^20\d\d-"),
        case("a", "regex", None, '"city": ?"Oslo"'),
        case("a", "regex", None, '"count": ?4.*"tier": ?"gold"'),
        case("a", "regex", None, "(?i)urgent"),
        case("a", "contains", "$.note", "abc"),
        case("a", "contains", "$.tags", "blue"),
        case("a", "contains", "$.lines", "SKU-7"),
        case("a", "contains", "$.address", "Oslo"),
        case("a", "contains", "$.tier", "lat"),
        case("a", "contains", None, "needle"),
        case("a", "always"),
    ],
    ids=lambda one: f"{one['match']['strategy']} {one['match']['expr']} {one['match']['value']}",
)
def test_every_strategy_is_reached_with_arguments_that_fit(one: dict[str, Any]) -> None:
    reached(one)


def test_cases_that_are_tried_before_are_avoided() -> None:
    arguments = reached(
        case("low", "regex", "$.count", "^[1-9]$", weight=9),
        case("gold", "exact", "$.tier", "gold", weight=8),
        case("no_tags", "contains", None, "sample", weight=7),
        case("abc", "regex", "$.id", "^[A-M]"),
        case("this", "always"),
    )
    assert arguments["count"] > 9
    assert arguments["id"][0] > "M"


def test_what_the_author_gave_is_used() -> None:
    given_by_author = {"id": "AAA-0001", "count": 2}
    assert reached(case("a", "always", arguments=given_by_author)) == given_by_author


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([case("all", "always"), case("a", "exact", "$.count", 5)], "shadowed by case all"),
        ([case("a", "exact", "$.count", 500)], "no arguments were found"),
        ([case("a", "always", arguments={"id": "x"})], "do not fit the tool's params"),
        (
            [case("a", "exact", "$.count", 5, arguments={"id": "AAA-0001", "count": 4})],
            "do not meet its own condition",
        ),
        (
            [
                case("b", "exact", "$.count", 4),
                case("a", "always", arguments={"id": "AAA-0001", "count": 4}),
            ],
            "shadowed by case b",
        ),
    ],
)
def test_a_case_that_no_call_reaches_has_a_reason(cases: list[Any], reason: str) -> None:
    there = tool(*cases)
    wanted = next(one for one in there.cases if one.case_id == "a")
    found = reach(there, wanted)
    assert found.arguments is None
    assert reason in found.reason


def test_the_default_is_reached_where_no_case_answers_everything() -> None:
    there = tool(case("low", "regex", "$.count", "^[1-9]$"))
    found = reach(there, None)
    assert found.arguments is not None
    assert first_match(there, found.arguments) is None
    assert reach(tool(case("all", "always")), None).reason.startswith("shadowed by case all")


def test_the_same_case_gets_the_same_arguments_every_time() -> None:
    one = case("a", "regex", "$.id", "^Q")
    assert reached(one) == reached(one)


NAMES = st.sampled_from(["a", "b", "c", "d"])
LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "pattern": "^x[0-9]{2,4}$"},
        {"type": "string", "minLength": 2, "maxLength": 5},
        {"type": "string", "format": "uuid"},
        {"type": "integer", "minimum": 3, "exclusiveMaximum": 9},
        {"type": "integer", "multipleOf": 5, "minimum": 12},
        {"type": "number", "exclusiveMinimum": 0.5, "maximum": 2},
        {"type": "boolean"},
        {"enum": ["one", 2, None]},
        {"const": {"k": 1}},
        {"type": ["null", "integer"]},
        {"oneOf": [{"type": "string", "maxLength": 3}, {"type": "integer"}]},
    ]
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 3),
        )
        | st.builds(
            lambda members, closed: {
                "type": "object",
                "properties": members,
                "required": sorted(members)[:2],
                "additionalProperties": closed,
            },
            st.dictionaries(NAMES, inner, max_size=3),
            st.booleans(),
        )
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(NAMES, SCHEMAS, min_size=1, max_size=4))
def test_any_schema_of_these_gets_arguments_that_fit(members: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": members, "required": sorted(members)}
    reached(case("a", "always"), schema=schema)
