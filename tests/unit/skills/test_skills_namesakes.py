"""Which known value an argument means that no value has the name of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dcf.skills import Kinship, best_of, namesakes, shape_of

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def record(*names: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict.fromkeys(names, TEXT),
        "required": list(names),
    }


ADDRESS = record("street", "city", "zip")


@pytest.mark.parametrize(
    ("name", "schema", "other", "have", "kinship"),
    [
        ("shipping_address", ADDRESS, "address", ADDRESS, Kinship.NARROWER),
        ("address", ADDRESS, "shippingAddress", record(*"abc", *ADDRESS["required"]), 3),
        ("shipping_address", ADDRESS, "billing_address", ADDRESS, Kinship.HEAD),
        ("recipient", ADDRESS, "place", ADDRESS, Kinship.MEMBERS),
        ("orderId", TEXT, "order_id", TEXT, Kinship.SAME),
        ("client_id", TEXT, "customer_id", TEXT, Kinship.HEAD),
        ("price_cents", NUMBER, "total_cents", {"type": "integer"}, Kinship.HEAD),
        ("order_total_cents", NUMBER, "total_cents", NUMBER, Kinship.NARROWER),
        # Another shape, unit or thing.
        ("shipping_address", ADDRESS, "address", TEXT, None),
        ("shipping_address", ADDRESS, "address", record("street"), None),
        ("amount", NUMBER, "amount_cents", NUMBER, None),
        ("order_id", TEXT, "order_note", TEXT, None),
        ("order_id", TEXT, "customer_id", TEXT, None),
        ("first_name", TEXT, "last_name", TEXT, None),
        ("order", TEXT, "order_status", TEXT, None),
        ("due_at", {**TEXT, "format": "date-time"}, "due_at_", {**TEXT, "format": "date"}, None),
        ("colour", {**TEXT, "enum": ["red"]}, "car_colour", TEXT, None),
        ("number", TEXT, "order_number", TEXT, None),
        ("address", {}, "shipping_address", ADDRESS, None),
    ],
)
def test_shape_and_name_decide(
    name: str, schema: Any, other: str, have: Any, kinship: Kinship | None
) -> None:
    found = namesakes(name, schema, {other: have})
    assert [one.kinship for one in found] == ([] if kinship is None else [kinship])


def test_the_best_is_one_that_no_other_is_as_near_as() -> None:
    known = dict.fromkeys(("billing_address", "home_address", "order.address"), ADDRESS)
    found = namesakes("shipping_address", ADDRESS, known)
    assert [one.path for one in found] == ["order.address", "billing_address", "home_address"]
    assert best_of(found) == found[0]
    assert best_of(found[1:]) is None
    assert best_of([]) is None


_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["street", "city", "zip"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(_VALUES, _VALUES)
def test_what_has_the_shape_of_a_value_can_stand_for_it(value: Any, other: Any) -> None:
    """By an independent validator of JSON Schema."""
    wanted = shape_of(value)
    assert Draft202012Validator(wanted).is_valid(value)
    if namesakes("address", wanted, {"address": shape_of(other)}):
        assert Draft202012Validator(wanted).is_valid(other)
