"""What selects several values: wildcards, slices, unions, filters, functions.

Where the specification is silent, the values are those of Jayway's JsonPath 2.9, whose grammar Step
Functions follows; tests/soak compares with it on generated paths.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from dcf.asl.errors import EvaluationError, ExpressionError
from dcf.asl.jsonpath.path import compile_path
from dcf.asl.scope import Scope

STORE = {
    "book": [
        {"title": "Sayings", "price": 8, "author": "Rees", "tags": ["old", "wise"]},
        {"title": "Sword", "price": 13, "author": "Waugh"},
        {"title": "Moby Dick", "price": 9, "isbn": "0-553", "tags": []},
    ],
    "bike": {"price": 20, "color": "red"},
    "limit": 10,
    "a.b": {"c d": 1},
    "größe": [1, 2, 3],
    "none": None,
}


def read(text: str, data: Any = STORE) -> Any:
    return compile_path(text, "value.$")(Scope(data, {}, {}))


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("$.book[*].isbn", ["0-553"]),
        ("$..price", [8, 13, 9, 20]),
        ("$..book[0].title", ["Sayings"]),
        ("$..nothing", []),
        ("$.bike.*", [20, "red"]),
        ("$.größe[1:]", [2, 3]),
        ("$.größe[-2:]", [2, 3]),
        ("$.größe[:-1]", [1, 2]),
        ("$.größe[0:9]", [1, 2, 3]),
        ("$.größe[0:3:2]", [1, 2, 3]),  # a step means nothing
        ("$.größe[-2:-1]", [2]),
        # Between two bounds the indexes are counted through, from the last items to the first.
        ("$.größe[-2:1]", [2, 3, 1]),
        ("$.größe[-9:2]", [1, 2, 3, 1, 2]),
        ("$.größe[-1:0]", [3]),
        ("$.größe[0:-1]", []),
        ("$.größe[-999999999:999999999]", [1, 2, 3, 1, 2, 3]),
        ("$.limit ", 10),
        ("$.größe[0,2]", [1, 3]),
        ("$.größe[0,9]", [1]),
        ("$.bike['price','color','missing']", {"price": 20, "color": "red"}),
        ("$['a.b']['c d']", 1),
        ("$.book[*]['title','isbn']", [
            {"title": "Sayings"},
            {"title": "Sword"},
            {"title": "Moby Dick", "isbn": "0-553"},
        ]),
        ("$.none", None),
        ("$..['title','isbn']", [{"title": "Moby Dick", "isbn": "0-553"}]),
        ("$..['book','bike'].price", [20]),
        ("$..['book','bike']..price", [8, 13, 9, 20]),
        ("$..[?(@.isbn)].title", ["Moby Dick"]),
        ("$..[?(@ > 1)]", []),  # only objects and arrays are looked at below
    ],
)  # fmt: skip
def test_selection(path: str, selected: Any) -> None:
    assert read(path) == selected


@pytest.mark.parametrize(
    ("condition", "titles"),
    [
        ("@.isbn", ["Moby Dick"]),
        ("!@.isbn", ["Sayings", "Sword"]),
        ("@.price < 10", ["Sayings", "Moby Dick"]),
        ("@.price >= $.limit", ["Sword"]),
        ("@.price == 8 || @.price == 9", ["Sayings", "Moby Dick"]),
        ("@.price > 8 && (@.isbn || @.author == 'Waugh')", ["Sword", "Moby Dick"]),
        ("@['author'] == \"Rees\"", ["Sayings"]),
        ("@.author != 'Rees'", ["Sword", "Moby Dick"]),
        ("@.author in ['Rees', 'Waugh']", ["Sayings", "Sword"]),
        ("@.author nin ['Rees']", ["Sword", "Moby Dick"]),
        ("@.tags contains 'wise'", ["Sayings"]),
        ("@.title contains 'ord'", ["Sword"]),
        ("@.tags size 2", ["Sayings"]),
        ("@.tags empty true", ["Moby Dick"]),
        ("@.tags anyof ['old', 'new']", ["Sayings"]),
        ("@.tags subsetof ['old', 'wise', 'x']", ["Sayings", "Moby Dick"]),
        ("@.title =~ /s.*/i", ["Sayings", "Sword"]),
        ("@.title =~ /S/", []),
        ("@.tags[0] == 'old'", ["Sayings"]),
        # An array may be empty, but it must be there.
        ("@.tags[?(@ == 'wise')]", ["Sayings", "Moby Dick"]),
        ("@.tags[*]", ["Sayings", "Moby Dick"]),
        ("@.tags[*] empty true", ["Moby Dick"]),
        ("@['isbn','author']", []),
        ("@['isbn','tags']", ["Moby Dick"]),
        ("@.none == @.nothing", []),
        ("@.none != @.nothing", ["Sayings", "Sword", "Moby Dick"]),
        ("@.none !== @.nothing", ["Sayings", "Sword", "Moby Dick"]),
        ("@.title == 'S\\u0077ord'", ["Sword"]),
        ("@.price type 'number'", []),
        ("@.tags ALL ['old']", []),
        # A number is searched as its text, an array for one match, what is missing as no text.
        ("@.price =~ /1.*/", ["Sword"]),
        ("@.tags =~ /w.*/", ["Sayings"]),
        ("@.isbn =~ /.{0}/", ["Sayings", "Sword"]),
        ("/true/ =~ @.tags", []),
        ("@.price == '13'", ["Sword"]),
        ("@.price === '13'", []),
    ],
)
def test_filters(condition: str, titles: list[str]) -> None:
    assert read(f"$.book[?({condition})].title") == titles


def test_a_filter_on_an_object_tests_the_object() -> None:
    assert read("$.bike[?(@.price > 10)].color") == ["red"]
    assert read("$.bike[?(@.price > 100)]") == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.book.length()", 3),
        ("$.größe.sum()", 6),
        ("$.größe.max()", 3),
        ("$..price.min()", 8),
        ("$.größe.avg()", 2),
        ("$.größe.first()", 1),
        ("$.größe.last()", 3),
        ("$.bike.keys()", ["price", "color"]),
        ("$.book[*].tags.length()", [2, 0]),
        (
            "$.book[0:2].keys()",
            [["title", "price", "author", "tags"], ["title", "price", "author"]],
        ),
        ("$.bike.color.length()", None),
        ("$.größe.index(1)", 2),
        ("$.größe.index(-1)", 3),
        ("$.größe.append(4, $.limit)", [1, 2, 3, 4, 10]),
        ("$.größe.sum(4, $.limit)", 20),
        ("$.max($.book[*].price)", 13),
        ("$.book[0].tags.concat($.bike.color)", "oldwisered"),
        ('$.concat("a", "b")', "ab"),
        ('$.concat("a", $.limit, 1.5, $.größe)', "a101.5123"),
        ("$.concat(1e25, 1.0, 0.00001, 0)", "1.0E251.01.0E-50"),
    ],
)
def test_functions_end_a_path(path: str, value: Any) -> None:
    assert read(path) == value


@pytest.mark.parametrize(
    "path",
    [
        "$.missing[*].a",
        "$.book[7].tags[*]",
        "$.missing[0:1]",
        "$.missing..a",
        "$.none[?(@.a)]",
        "$.limit[*].a",
        "$.missing[0,1]",
        "$.missing['a','b'].c",
        "$.missing[*].length()",
    ],
)
def test_a_path_that_may_select_several_values_selects_none_of_what_is_missing(path: str) -> None:
    assert read(path) == []


@pytest.mark.parametrize(
    "path",
    [
        "$.missing.length()",
        "$.bike.color.sum()",
        "$.missing['a','b']",
        "$.größe.index(9)",
        "$.größe.index()",
        "$.book[*].price.sum()",  # no price has numbers in it
        "$.book[*].tags.first()",  # one has none
        "$.größe.append($.missing)",
        "$..sum()",
        "$.größe.sum(1.7e308, 1.7e308)",
        "$.größe.stddev(1e200)",
        "$.missing[0].a",
    ],
)
def test_a_path_that_names_one_place_must_find_it(path: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read(path)

    assert caught.value.error == "States.Runtime"


@pytest.mark.parametrize(
    "path",
    [
        "$.a[:]",
        "$.a[::2]",
        "$.a[ 0 : 2 ]",
        "$.a['b',\"c\"]",
        "$.a['b',]",
        "$.a.sum(",
        "$.a.sum(x)",
        "$.a.sum(1 2)",
        "$.a.append(NaN)",
        "$.a.append(1e400)",
        '$.a.append("\\ud800")',
        f"$.a.append({'[' * 300}{']' * 300})",
        f"$.a{'.append($.a' * 1000}{')' * 1000}",
        "$.a.sum(,)",
        "$.a.foo(1)",
        "$.a.sum(1",
        "$.a[?(@.b type)]",
    ],
)
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(ExpressionError, match="is not a JSONPath"):
        read(path)


@pytest.mark.parametrize(
    ("field", "path", "cause"),
    [
        ("value.$", "$.x", "The JSONPath '$.x' specified for the field 'value.$' could not be found"
         " in the input '{\"a\":[1]}'"),
        ("InputPath", "$.x", "Invalid path '$.x' : No results for path: $['x']"),
        ("OutputPath", "$.no.such", "Invalid path '$.no.such' : Missing property in path $['no']"),
        ("OutputPath", "$.a[3]", "Invalid path '$.a[3]' : No results for path: $['a'][3]"),
        ("SecondsPath", "$.x", "The SecondsPath parameter does not reference an input value: $.x"),
        ("Variable", "$.x", "Invalid path '$.x': The choice state's condition path references an"
         " invalid value."),
    ],
)  # fmt: skip
def test_the_cause_of_a_missing_path_depends_on_its_field(
    field: str, path: str, cause: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_path(path, field)(Scope({"a": [1]}, {}, {}))

    assert caught.value.cause == cause


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("$.l[*].concat($.big)", {"l": [[]] * 12_000, "big": "x" * 190_000}),
        ("$.l[*].sum($.big)", {"l": [[1]] * 30_000, "big": [1] * 20_000}),
        ("$.l[?(@.stddev($.big) > 1)]", {"l": [[1]] * 300, "big": [1] * 200_000}),
        ("$.l[*].append($.big, $.big)", {"l": [[1] * 1_000] * 20_000, "big": 1}),
    ],
)
def test_functions_meet_the_limits_of_an_evaluation(path: str, data: Any) -> None:
    with pytest.raises(EvaluationError, match=r"Expression evaluation (timeout|memory limit)"):
        read(path, data)


def test_whatever_numbers_there_are_a_function_gives_a_number_or_an_error() -> None:
    for numbers in (
        [1e308, 1e308],
        [10**400],
        [-1e308, 1e308, -1e308],
        [5e-324],
        [2**70, -(2**70)],
    ):
        for name in ("sum", "avg", "stddev", "min", "max"):
            try:
                value = read(f"$.a.{name}()", {"a": numbers})
            except EvaluationError as error:
                assert error.error == "States.Runtime"
            else:
                assert math.isfinite(value)
