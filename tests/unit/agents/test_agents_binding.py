"""How the rehearsal finds arguments: by name and type, nearest first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.agents.binding import Unbound, bind

STRING = {"type": "string"}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=12,
)


def wants(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def arguments(schema: dict[str, Any], *sources: Any) -> dict[str, Any]:
    return bind(schema, sources).arguments


def test_a_property_takes_the_input_member_of_its_name() -> None:
    assert arguments(wants(url=STRING), {"url": "https://a", "other": 1}) == {"url": "https://a"}


def test_the_top_level_wins_over_nested_objects() -> None:
    assert arguments(wants(q=STRING), {"a": {"q": "nested"}, "q": "top"}) == {"q": "top"}


def test_a_shallow_object_wins_over_a_deep_one() -> None:
    source = {"a": {"a": {"q": "deep"}}, "z": {"q": "shallow"}}
    assert arguments(wants(q=STRING), source) == {"q": "shallow"}


def test_at_equal_depth_the_alphabetically_first_object_wins() -> None:
    assert arguments(wants(q=STRING), {"b": {"q": "b"}, "a": {"q": "a"}}) == {"q": "a"}


def test_arrays_are_not_searched() -> None:
    assert bind(wants(("q",), q=STRING), [[{"q": "x"}], {"items": [{"q": "x"}]}]).missing


def test_an_earlier_source_wins_over_a_later_one_at_any_depth() -> None:
    assert arguments(wants(q=STRING), {"a": {"b": {"q": "input"}}}, {"q": "result"}) == {
        "q": "input"
    }


def test_a_value_of_another_type_is_passed_over() -> None:
    assert arguments(wants(n={"type": "integer"}), {"n": "7", "deep": {"n": 7}}) == {"n": 7}


def test_a_boolean_is_no_integer() -> None:
    assert arguments(wants(n={"type": "integer"}), {"n": True}) == {}


def test_null_fits_only_where_the_schema_allows_it() -> None:
    assert arguments(wants(a=STRING, b={"type": ["string", "null"]}), {"a": None, "b": None}) == {
        "b": None
    }


def test_objects_and_arrays_are_taken_whole_whatever_is_in_them() -> None:
    where = {"type": "object", "required": ["city"], "properties": {"city": STRING}}
    tags = {"type": "array", "items": STRING}
    source = {"where": {"country": "NZ"}, "tags": [1, 2]}
    assert arguments(wants(where=where, tags=tags), source) == source


def test_a_value_outside_the_enum_is_passed_over() -> None:
    level = {"type": "string", "enum": ["low", "high"]}
    assert arguments(wants(level=level), {"level": "odd", "deep": {"level": "high"}}) == {
        "level": "high"
    }


def test_a_value_other_than_the_constant_is_passed_over() -> None:
    assert arguments(wants(kind={"const": "page"}), {"kind": "book"}) == {}


def test_the_default_comes_last() -> None:
    limit = {"type": "integer", "default": 10}
    assert arguments(wants(limit=limit), {}) == {"limit": 10}
    assert arguments(wants(limit=limit), {}, {"limit": 3}) == {"limit": 3}


def test_a_required_constant_needs_no_source() -> None:
    properties = {"kind": {"const": "page"}, "unit": {"enum": ["km"]}}
    assert arguments(wants(("kind", "unit"), **properties), {}) == {"kind": "page", "unit": "km"}


def test_an_optional_constant_without_a_source_is_left_out() -> None:
    assert arguments(wants(kind={"const": "page"}), {}) == {}


def test_every_missing_required_property_is_reported_with_its_type() -> None:
    schema = wants(("a", "b", "c"), a=STRING, b={"type": ["integer", "null"]})
    assert bind(schema, [{}]).missing == (
        Unbound("a", "string"),
        Unbound("b", "integer or null"),
        Unbound("c", "any type"),
    )


def test_alternatives_and_local_references_are_followed() -> None:
    schema = {
        "properties": {
            "mode": {"anyOf": [{"$ref": "#/$defs/Mode"}, {"type": "null"}]},
            "size": {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "integer"}]},
        },
        "$defs": {"Mode": {"type": "string", "enum": ["fast"]}},
    }
    assert arguments(schema, {"mode": "slow", "size": 9}) == {"size": 9}
    assert arguments(schema, {"mode": "fast", "size": "9"}) == {"mode": "fast"}


def test_a_reference_in_circles_allows_anything() -> None:
    schema = {
        "properties": {"x": {"$ref": "#/$defs/X"}},
        "$defs": {"X": {"$ref": "#/$defs/X"}},
    }
    assert arguments(schema, {"x": 1}) == {"x": 1}


def test_a_reference_outside_the_document_allows_anything() -> None:
    schema = {"properties": {"x": {"$ref": "https://example.org/x.json"}}}
    assert arguments(schema, {"x": 1}) == {"x": 1}


def test_a_type_that_json_schema_does_not_have_allows_anything() -> None:
    assert arguments(wants(day={"type": "date"}), {"day": "2026-01-01"}) == {"day": "2026-01-01"}


def shuffled(value: Any, order: Any) -> Any:
    if isinstance(value, dict):
        members = list(value.items())
        order.shuffle(members)
        return {name: shuffled(member, order) for name, member in members}
    return [shuffled(item, order) for item in value] if isinstance(value, list) else value


@given(JSON_VALUES, st.randoms(use_true_random=False))
def test_the_order_of_members_never_matters(source: Any, order: Any) -> None:
    schema = wants(a=STRING, b={"type": "object"}, c={}, d={"type": "array"})
    assert arguments(schema, source) == arguments(schema, shuffled(source, order))


@given(JSON_VALUES)
def test_required_properties_are_either_bound_or_reported(source: Any) -> None:
    binding = bind(wants(("a", "b"), a=STRING, b={"type": "integer"}, c={}), [source])
    reported = {unbound.name for unbound in binding.missing}
    assert {"a", "b"} <= set(binding.arguments) ^ reported
    assert not set(binding.arguments) & reported


def test_a_value_of_a_nearer_name_is_taken_and_told() -> None:
    schema = wants(("shipping_address",), shipping_address={"type": "object"})
    source = {"address": {"street": "a"}, "address_note": "b"}
    found = bind(schema, [source])
    assert found.arguments == {"shipping_address": {"street": "a"}}
    assert found.assumed == (("shipping_address", "address"),)


@pytest.mark.parametrize(
    "source",
    [{"billing_address": {}}, {"address": "a"}, {"old_address": {}, "new_address": {}}, {}],
)
def test_what_leaves_doubt_stays_missing(source: dict[str, Any]) -> None:
    schema = wants(("shipping_address",), shipping_address={"type": "object"})
    assert bind(schema, [source]).missing == (Unbound("shipping_address", "object"),)
