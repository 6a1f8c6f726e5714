"""JSON Schemas of strangers: they mean what the standard says, and nothing takes for ever."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dcf.schema import Schema, SchemaUnusable, schema_of

SLOW = "^(a|aa)+$"
LONG = "a" * 60 + "#"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, "a", "ab", "x1"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "x1", "x2"]), inner, max_size=4)
    ),
    max_leaves=8,
)
SCHEMAS: list[Any] = [
    {"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": False},
    {"patternProperties": {"^x": True}, "additionalProperties": {"type": "string"}},
    {"properties": {"a": {"type": "null"}}, "additionalProperties": False},
    {"uniqueItems": True},
    {"items": {"uniqueItems": True}},
    {"pattern": "^a"},
    {"propertyNames": {"pattern": "^[a-b]$"}},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
    {"not": {"pattern": "b"}},
    {"anyOf": [{"type": "object", "required": ["a"]}, {"enum": [1, "ab"]}]},
]


@settings(max_examples=150)
@given(schema=st.sampled_from(SCHEMAS), value=VALUES)
def test_values_fit_as_the_standard_says(schema: Any, value: Any) -> None:
    assert schema_of(schema).fits(value) is Draft202012Validator(schema).is_valid(value)


def nested(depth: int) -> dict[str, Any]:
    """Each definition asks twice for the next: 2 ** depth comparisons."""
    here = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(depth)
    }
    return {"$defs": {**here, f"d{depth}": {"type": "string"}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"pattern": SLOW}, LONG),
        ({"pattern": "^(a+)+$"}, "a" * 40_000 + "#"),
        ({"not": {"pattern": SLOW}}, LONG),
        ({"anyOf": [{"pattern": SLOW}, True]}, LONG),
        ({"patternProperties": {SLOW: True}}, {LONG: 1}),
        ({"patternProperties": {SLOW: True}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": {"pattern": SLOW}}, {LONG: 1}),
        ({"items": {"pattern": SLOW}}, [LONG] * 1000),
        ({"pattern": "(?:(?:a?){1000}){1000}"}, "a"),
        (nested(40), "text"),
    ],
)
def test_what_takes_too_long_is_neither_a_yes_nor_a_no(schema: Any, value: Any) -> None:
    started = time.process_time()
    with pytest.raises(SchemaUnusable) as caught:
        schema_of(schema).faults(value)
    assert caught.value.kind == "slow"
    assert "too long" in str(caught.value)
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "text"}, "invalid"),
        ({"pattern": "("}, "invalid"),
        ({"pattern": "(?:" * 5000}, "invalid"),
        ({"patternProperties": {"a": True}, "unevaluatedProperties": False}, "invalid"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "reference"),
        ({"$ref": "#/$defs/none"}, "reference"),
        ({"$ref": "#"}, "endless"),
    ],
)
def test_a_schema_that_cannot_be_used_says_why(schema: Any, kind: str) -> None:
    with pytest.raises(SchemaUnusable) as caught:
        schema_of(schema).faults("a")
    assert caught.value.kind == kind
    assert 0 < len(str(caught.value)) <= 200


def test_a_schema_is_made_once() -> None:
    assert schema_of({"type": "string", "minLength": 1}) is schema_of(
        {"minLength": 1, "type": "string"}
    )
    assert isinstance(schema_of(True), Schema)


def test_many_different_items_are_compared_in_linear_time() -> None:
    items = [{"n": n} for n in range(20_000)]
    started = time.process_time()
    assert schema_of({"uniqueItems": True}).fits(items)
    assert not schema_of({"uniqueItems": True}).fits([*items, {"n": 7.0}])
    assert time.process_time() - started < 2


def test_a_large_schema_that_changes_again_and_again_is_kept_once() -> None:
    from dcf.schema.schema import _made

    for number in range(12):
        schema_of({"description": f"{number:0>{1024 * 1024}}"})
    assert sum(len(text) > 1_000_000 for text in _made._kept) <= 8
    schema_of({"description": "x" * (9 * 1024 * 1024)})
    assert len(_made) == 1
