"""What selects several values: wildcards, slices, unions, filters, functions."""

from __future__ import annotations

from typing import Any

import pytest

from dcf.asl.errors import EvaluationError
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
        ("$.größe[::2]", [1, 3]),
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
        ("@.tags[?(@ == 'wise')]", ["Sayings"]),
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
        ("$.book[*].tags.length()", 2),
    ],
)
def test_functions_end_a_path(path: str, value: Any) -> None:
    assert read(path) == value


@pytest.mark.parametrize(
    "path", ["$.missing[*].a", "$.book[7].tags[*]", "$.missing.length()", "$.bike.color.sum()"]
)
def test_a_definite_part_that_is_not_there_is_an_error(path: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        read(path)

    assert caught.value.error == "States.Runtime"


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
