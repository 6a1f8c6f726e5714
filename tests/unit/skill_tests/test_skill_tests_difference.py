"""Comparing answers: by value, by shape where time and chance are in them, and in words."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.skill_tests.difference import Expected, missing_parts, plain_differences

SOME_UUID = str(uuid.UUID(int=7**40, version=4))
SOME_MOMENT = datetime(2026, 3, 4, 5, 6, 7, 89_000, UTC).isoformat()
ARGUMENTS = {"n": 5, "name": "Ann", "list": [{"k": True}]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="ab c"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="ab"), inner),
    max_leaves=6,
)


def differences(response: Any, actual: Any, schema: Any = None) -> list[str]:
    return Expected(response, ARGUMENTS, schema).differences(actual)


@given(JSON)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert plain_differences(value, value) == differences(value, value) == []
    assert list(missing_parts(value, value)) == []


@pytest.mark.parametrize(
    ("response", "good", "bad"),
    [
        ("{{ args.n }}", 5, "5"),
        ("{{n}}", 5, 6),
        ("{{ list[0].k }}", True, 1),
        ("hello {{ args.name }}", "hello Ann", "hello Bob"),
        ("{{ nobody }}", "{{ nobody }}", ""),
        ("{{ uuid }}", SOME_UUID, "x"),
        ("id-{{ uuid }}", f"id-{SOME_UUID}", SOME_UUID),
        ("{{ now_iso }}", SOME_MOMENT, "yesterday"),
        ("{{ random_int(1, 6) }}", 6, 7),
        ("{{ random_int(1, 6) }}", 1, True),
        ("{{ random_int(1, 6) }}", 3, "3"),
        ("T{{ random_int(1, 6) }}", "T3", "T"),
        ("a.b", "a.b", "axb"),
    ],
)
def test_a_placeholder_is_compared_with_what_it_may_become(
    response: str, good: Any, bad: Any
) -> None:
    assert differences({"x": response}, {"x": good}) == []
    [line] = differences({"x": response}, {"x": bad})
    assert line.startswith("$.x: expected ")


def test_where_the_schema_wants_text_a_placeholder_gives_text() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    assert differences({"x": "{{ n }}"}, {"x": "5"}, schema) == []
    assert differences({"x": "{{ random_int(1, 6) }}"}, {"x": "4"}, schema) == []
    assert differences({"x": "{{ n }}"}, {"x": 5}, schema) != []
    assert differences({"x": "{{ random_int(1, 6) }}"}, {"x": "9" * 5_000}, schema) != []


def test_every_difference_is_named_with_its_place() -> None:
    expected = {"a": 1, "b": [1, 2], "c": {"d": "x"}, "gone": None, "t": True}
    actual = {"a": 2, "b": [1], "c": {"d": "y"}, "new": 1, "t": 1}
    assert plain_differences(expected, actual) == [
        "$.a: expected 1, got 2",
        "$.b: expected 2 elements, got 1",
        '$.c.d: expected "x", got "y"',
        "$.gone: expected null, is missing",
        "$.t: expected true, got 1",
        "$.new: is not expected, got 1",
    ]


@pytest.mark.parametrize(
    ("part", "actual", "fits"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {"b": "x"}}, {"a": {"b": "wxyz", "c": 1}}, True),
        ([2], [1, 2, 3], True),
        ([{"a": 1}], [{"b": 1}, {"a": 1, "b": 2}], True),
        ("part", "a part of it", True),
        (1, 1.0, True),
        ({"a": 1}, {}, False),
        ({"a": 1}, {"a": "1"}, False),
        ([4], [1, 2, 3], False),
        ("x", "abc", False),
        ({}, [], False),
        (None, {}, False),
    ],
)
def test_contains_asks_for_parts(part: Any, actual: Any, fits: bool) -> None:
    assert (list(missing_parts(part, actual)) == []) is fits
