"""When a value is what a recording expects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.conformance.likeness import alike


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, 1.0),
        (1.0, 1),
        (0.1 + 0.2, 0.3),
        ({"a": 1}, '{"a": 1.0}'),
        ([1, "x"], '[1, "x"]'),
        ("<id> of <id>", "a of b"),
        ("<id>", {"any": "value"}),
        ({"<id>": 1, "b": 2}, {"b": 2, "c3": 1}),
        ("x <id>", "x \n y"),
    ],
)
def test_alike(expected: Any, actual: Any) -> None:
    assert alike(expected, actual, ["<id>"])


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": 2}),
        (True, 1),
        (1, True),
        (None, 0),
        (None, ""),
        ("1", 1),
        (1, 1.0000001),
        ("<id>!", "text"),
        ({"<id>": 1}, {"a": 2}),
        ({"a": 1}, "no json"),
        ({"a": {"b": 1}}, {"a": None}),
    ],
)
def test_not_alike(expected: Any, actual: Any) -> None:
    assert not alike(expected, actual, ["<id>"])


def test_a_placeholder_counts_only_where_the_case_lists_it() -> None:
    assert not alike("<id>", "text")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_a_value_is_like_itself_and_like_what_json_makes_of_it(value: Any) -> None:
    assert alike(value, value)
    assert alike(value, json.loads(json.dumps(value)))
