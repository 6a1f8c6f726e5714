"""Filters of a JSONPath: where names end, and whether a value is in an array."""

from __future__ import annotations

import time
from typing import Any

import pytest
from asl_builders import enter, evaluated
from hypothesis import example, given
from hypothesis import strategies as st

ROWS = {"lim": 1, "a": [{"x": 0, "b": 1, "n": "q"}, {"x": 1, "n": "r"}, {"x": 2, "b": 1}]}


def numbers(condition: str, data: Any = None) -> list[Any]:
    """The ``x`` of each row that passes."""
    return [row["x"] for row in evaluated(f"$.a[?({condition})]", data or ROWS)]


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("@.x>=1", [1, 2]),
        ("@.x>1", [2]),
        ("@.x==1", [1]),
        ("@.x===1", [1]),
        ("@.x!=1", [0, 2]),
        ("@.x<$.lim", [0]),
        ("$.lim<@.x", [2]),
        ("@.x<=$.lim", [0, 1]),
        ("@.n=='q'", [0]),
        ("@.n=~/q/", [0]),
        ("@.b&&@.x==0", [0]),
        ("@.x>1||@.n=='r'", [1, 2]),
        ("!@.b", [1]),
        ("!(@.b)||@.x==2", [1, 2]),
    ],
)
def test_what_compares_and_joins_may_stand_right_after_a_name(
    condition: str, passing: list[int]
) -> None:
    assert numbers(condition) == passing


def test_spaces_around_a_sign_change_nothing() -> None:
    assert numbers("@.x >= 1 && @.b") == numbers("@.x>=1&&@.b") == [2]


def test_a_filter_in_an_intrinsic_needs_no_spaces() -> None:
    assert evaluated("States.ArrayLength($.a[?(@.x>=1)])", ROWS) == 2


def test_a_filter_in_the_variable_of_a_choice_needs_no_spaces() -> None:
    rule = {"Variable": "$.sum($.a[?(@.x>=1)].x)", "NumericEquals": 3, "Next": "Next"}

    assert enter({"Type": "Choice", "Choices": [rule], "Default": "S"}, ROWS).next == "Next"


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("@.n==q", [0]),
        ("@.n == q", [0]),
        ("@.n != q && @.x == 1", [1]),
        ("@.n == true-ish || @.n == r", [1]),
        ("(@.n==r)", [1]),
    ],
)
def test_a_text_may_stand_without_quotes(condition: str, passing: list[int]) -> None:
    """As in published machines that run on AWS: ``[?(@.Type.Text==AMOUNT_PAID)]``."""
    assert numbers(condition) == passing


@pytest.mark.parametrize("name", ["in-stock", "a=b", "a<b", "a&b", "~a", "a|b", "wow!"])
def test_outside_of_filters_odd_names_need_no_quotes(name: str) -> None:
    assert evaluated(f"$.{name}", {name: 5}) == 5


def test_a_name_with_a_dash_goes_on_inside_a_filter() -> None:
    assert numbers("@.in-stock==3", {"a": [{"x": 1, "in-stock": 3}, {"x": 2, "in-stock": 4}]}) == [
        1
    ]


def test_a_quoted_name_of_a_filter_may_hold_any_sign() -> None:
    assert numbers("@['a=b']==3", {"a": [{"x": 1, "a=b": 3}, {"x": 2}]}) == [1]


@pytest.mark.parametrize(
    ("value", "condition", "passes"),
    [
        # A text equals the number that Java writes like it,
        ("10", "@.x == 10", True),
        ("10.0", "@.x == 10", False),
        ("1.0", "@.x == 1.0", True),
        ("1.50", "@.x == 1.50", True),
        ("1.5", "@.x == 1.50", False),
        ("-12.3", "@.x == -0.123e2", True),
        ("-0.123e2", "@.x == -0.123e2", False),
        ("1E+1", "@.x == 1e1", True),
        ("1E-7", "@.x == 0.0000001", True),
        ("0", "@.x == 000", True),
        ("10", "@.x in [10]", True),
        ("010", "@.x in [10]", False),
        # a number every text that writes it.
        (10, "@.x == '010'", True),
        (10, "@.x == '1E+1'", True),
        (10, "@.x == ' 10'", False),
        (10, "@.x == '1_0'", False),
        (10, "@.x in ['x', '10.0']", True),
        (1e25, "@.x == '1e25'", True),
    ],
)
def test_a_text_and_a_number_compare_as_in_jayway(value: Any, condition: str, passes: bool) -> None:
    assert numbers(condition, {"a": [{"x": value}]}) == ([value] if passes else [])


@pytest.mark.parametrize(
    ("text", "number", "passes"),
    [("1.0E+25", 1e25, True), ("0.000010", 1e-05, True), ("0.0", -0.0, True), ("1", 1.0, False)],
)
def test_a_number_of_the_data_has_the_text_of_a_double(
    text: str, number: float, passes: bool
) -> None:
    data = {"a": [{"x": text, "y": number}], "b": [number]}

    assert numbers("@.x == @.y", data) == ([text] if passes else [])
    assert numbers("@.x in $.b", data) == ([text] if passes else [])


@pytest.mark.parametrize(
    ("value", "array", "found"),
    [
        (1, [1.0], True),
        (1.0, [2, 1], True),
        (1, [True], False),
        (True, [1], False),
        (True, [True], True),
        (False, [0], False),
        (None, [None], True),
        (None, [0, False, ""], False),
        ("a", ["b", "a"], True),
        ("a", ["b"], False),
        ([1], [[1.0]], True),
        ({"k": 1}, [{"k": 1}], True),
        ({"k": 1}, [{"k": True}], False),
    ],
)
def test_in_compares_as_json_does(value: Any, array: list[Any], found: bool) -> None:
    data = {"a": [{"x": value}], "b": array}

    assert numbers("@.x in $.b", data) == ([value] if found else [])
    assert numbers("@.x nin $.b", data) == ([] if found else [value])
    assert numbers("$.b contains @.x", data) == ([value] if found else [])


SCALARS = st.sampled_from([None, True, False, -1, 0, 1, 0.0, 1.0, 1.5, "", "1", "1.0", "a"])


@example(value="1", array=[1.0, 1])
@given(value=SCALARS, array=st.lists(SCALARS, max_size=6))
def test_in_is_equality_with_one_of_the_elements(value: Any, array: list[Any]) -> None:
    data = {"a": [{"x": value}], "b": array}
    equal = any(bool(numbers("@.x==@.y", {"a": [{"x": value, "y": item}]})) for item in array)

    assert bool(numbers("@.x in $.b", data)) is equal
    assert bool(numbers("@.y anyof $.b", {**data, "a": [{"x": 1, "y": [value]}]})) is equal


@given(value=SCALARS, array=st.lists(SCALARS, max_size=6))
def test_anyof_is_equality_of_one_of_the_elements(value: Any, array: list[Any]) -> None:
    equal = any(bool(numbers("@.y==@.x", {"a": [{"x": value, "y": item}]})) for item in array)

    assert bool(numbers("$.b anyof @.y", {"b": array, "a": [{"x": 1, "y": [value]}]})) is equal


@pytest.mark.parametrize("operation", ["@.x in $.b", "$.b contains @.x", "@.x nin $.b[*]"])
def test_a_large_array_is_looked_through_once(operation: str) -> None:
    count = 20_000  # pair by pair: 400 million comparisons
    data = {"a": [{"x": n} for n in range(count)], "b": list(range(count - 1, 2 * count))}
    began = time.thread_time()

    found = numbers(operation, data)

    assert len(found) == (count - 1 if "nin" in operation else 1)
    assert time.thread_time() - began < 1.0


@pytest.mark.parametrize(
    "condition",
    [r"@ == '\u00fc'", r"@ in ['\u00fc']", r"@ in ['a\n', '\u00fc']", r'@ in ["\u00fc"]'],
)
def test_escapes_in_the_texts_of_a_filter_are_read(condition: str) -> None:
    """As Jayway's JsonPath 2.9 reads them."""
    assert evaluated(f"$[?({condition})]", ["u", "ü", r"\u00fc"]) == ["ü"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (r"$['\u00fc']", r"\u00fc"),
        (r"$['a\nb']", r"a\nb"),
        (r"""$['Test\""Name"']""", r'Test\""Name"'),
        (r"$['a\'b']", "a'b"),
        (r"$['a\\b']", r"a\b"),
    ],
)
def test_a_name_in_quotes_has_no_other_escapes(path: str, name: str) -> None:
    """The third is recorded on AWS, where Jayway 2.9 would take the backslash out."""
    assert evaluated(path, {name: 1, "ü": 2, 'Test""Name"': 3}) == 1
