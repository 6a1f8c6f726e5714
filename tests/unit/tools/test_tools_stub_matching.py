"""Which case answers a call."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jsonpath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.schema import PatternTooSlow, search
from dcf.tools.stub.equality import same
from dcf.tools.stub.matching import Match, Strategy

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def match(strategy: Strategy, expr: str | None, value: Any) -> Match:
    query: Any = None if expr is None else jsonpath.compile(expr)
    pattern = re.compile(value) if strategy == "regex" else None
    return Match(strategy, query, value, pattern)


def kind(value: Any) -> str:
    """The JSON type of a value, as ECMA-404 names them."""
    if value is None or isinstance(value, bool):
        return repr(value)
    names = {int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names[type(value)]


@settings(deadline=None)
@given(VALUES)
def test_a_value_is_the_same_as_itself(value: Any) -> None:
    assert same(value, value)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_sameness_has_no_direction(left: Any, right: Any) -> None:
    assert same(left, right) == same(right, left)


@settings(deadline=None)
@given(SCALARS, SCALARS)
def test_scalars_are_the_same_if_they_have_one_json_type_and_are_equal(
    left: Any, right: Any
) -> None:
    assert same(left, right) == (kind(left) == kind(right) and left == right)


@settings(deadline=None)
@given(VALUES, VALUES)
def test_a_list_or_an_object_is_as_different_as_what_is_in_it(left: Any, right: Any) -> None:
    assert same([left], [right]) == same({"k": left}, {"k": right}) == same(left, right)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (True, 1, False),
        (False, 0, False),
        ("1", 1, False),
        (1, 1.0, True),
        (None, False, False),
        ("true", True, False),
        ([1, 2], [1], False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1.0}, True),
        (2**53 + 1, float(2**53), False),
    ],
)
def test_types_are_kept_apart(left: Any, right: Any, expected: bool) -> None:
    assert same(left, right) is expected


@pytest.mark.parametrize("strategy", ["exact", "jsonpath"])
@pytest.mark.parametrize(
    ("expr", "value", "arguments", "expected"),
    [
        ("$.a.b[0]", "x", {"a": {"b": ["x", "y"]}}, True),
        ("$.a.b[1]", "x", {"a": {"b": ["x", "y"]}}, False),
        ("$.a.b[*]", "y", {"a": {"b": ["x", "y"]}}, True),
        ("$.a", None, {}, False),
        ("$.a", None, {"a": None}, True),
        ("$.a", 1, {"a": True}, False),
        ("$.a", [1, {"b": 2}], {"a": [1.0, {"b": 2}]}, True),
        (None, {"a": 1}, {"a": 1}, True),
        (None, {"a": 1}, {"a": 1, "b": 2}, False),
    ],
)
def test_exact_compares_the_value_at_the_path(
    strategy: Strategy, expr: str | None, value: Any, arguments: dict[str, Any], expected: bool
) -> None:
    assert match(strategy, expr, value).holds(arguments) is expected


@pytest.mark.parametrize(
    ("expr", "value", "arguments", "expected"),
    [
        ("$.q", "^ab", {"q": "abc"}, True),
        ("$.q", "^ab", {"q": "xab"}, False),
        ("$.q", "^ab", {"r": "abc"}, False),
        ("$.q[*].n", "^b$", {"q": [{"n": "a"}, {"n": "b"}]}, True),
        ("$.n", "^12$", {"n": 12}, True),
        (None, '^{"q":"abc"}$', {"q": "abc"}, True),
        (None, '^{"q": "abc"}$', {"q": "abc"}, True),
        (None, "^abc", {"q": "abc"}, False),
    ],
)
def test_a_regex_searches_the_value_at_its_path_or_else_all_arguments_as_json(
    expr: str | None, value: str, arguments: dict[str, Any], expected: bool
) -> None:
    assert match("regex", expr, value).holds(arguments) is expected


@pytest.mark.parametrize(
    ("expr", "value", "arguments", "expected"),
    [
        ("$.q", "bc", {"q": "abcd"}, True),
        ("$.q", "BC", {"q": "abcd"}, False),
        ("$.q", 2, {"q": [1, 2.0]}, True),
        ("$.q", "2", {"q": [1, 2]}, True),
        ("$.q", 2, {"q": [1, 20]}, False),
        ("$.q", True, {"q": [1]}, False),
        ("$.q", "bc", {"q": ["x", "abcd"]}, True),
        ("$.q", "2", {"q": 123}, True),
        ("$.q", "ru", {"q": True}, True),
        ("$.q", 1, {"q": "123"}, False),
        ("$.q", "deep", {"q": {"a": {"b": "so deep"}}}, True),
        (None, "abc", {"q": {"r": "xabcx"}}, True),
        (None, '"q": 1', {"q": 1}, True),
        (None, '"q":1', {"q": 1}, True),
    ],
)
def test_contains_looks_into_text_lists_and_objects(
    expr: str | None, value: Any, arguments: dict[str, Any], expected: bool
) -> None:
    assert match("contains", expr, value).holds(arguments) is expected


def test_always_holds() -> None:
    assert match("always", None, None).holds({})


def test_a_search_that_backtracks_without_end_is_stopped() -> None:
    started = time.process_time()
    with pytest.raises(PatternTooSlow):
        search(re.compile("(a|aa)+$"), "a" * 60 + "b")
    assert time.process_time() - started < 2
    assert search(re.compile("b$"), "a" * 60 + "b")


def test_a_search_is_stopped_in_every_thread() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(PatternTooSlow):
        pool.submit(search, re.compile("(a|aa)+$"), "a" * 60 + "b").result(timeout=10)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(?i)REFUND", "a refund", True),
        (r"^\w+$", "größe", True),
        ("^a.b$", "a\nb", False),
        (r"(?P<q>['\"]).*(?P=q)", "say 'x'", True),
        (r"(?<!not )paid", "not paid", False),
        (r"[0-9]{3,}", "12", False),
        (r"a*+b", "aab", True),
        (r"\Aab\Z", "ab", True),
        (r"[\[]", "[", True),
    ],
)
def test_an_expression_finds_what_pythons_own_finds(pattern: str, text: str, found: bool) -> None:
    assert search(re.compile(pattern), text) is found is (re.search(pattern, text) is not None)
