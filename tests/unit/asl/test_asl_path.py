"""Paths select data: fields and indexes directly, filters and slices through JSONPath."""

from __future__ import annotations

import pytest
from asl_builders import alone, codes, enter, evaluated

from dcf.asl import Failure

BOOKS = {
    "store": {
        "book": [
            {"title": "Sayings", "price": 8.95, "in-stock": True},
            {"title": "Sword", "price": 12.99},
            {"title": "Moby Dick", "price": 8.99},
        ],
        "a.b": {"c d": 1},
    }
}


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("$", BOOKS),
        ("$.store.book[1].title", "Sword"),
        ("$.store.book[-1].title", "Moby Dick"),
        ("$['store']['a.b']['c d']", 1),
        ('$["store"]["a.b"]', {"c d": 1}),
        ("$.store.book[0].in-stock", True),
        ("$.store.['a.b']", {"c d": 1}),
    ],
)
def test_a_definite_path_gives_the_value_itself(path: str, selected: object) -> None:
    assert evaluated(path, BOOKS) == selected


@pytest.mark.parametrize(
    ("path", "selected"),
    [
        ("$.store.book[*].title", ["Sayings", "Sword", "Moby Dick"]),
        ("$..price", [8.95, 12.99, 8.99]),
        ("$.store.book[0:2].price", [8.95, 12.99]),
        ("$.store.book[?(@.price > 10)].title", ["Sword"]),
        ("$.store.book[?(@.price > 100)]", []),
        ("$.store.book[0,2].price", [8.95, 8.99]),
        ("$.store.book.*.price", [8.95, 12.99, 8.99]),
        ("$.store['book','none'][0].title", ["Sayings"]),
        ("$['store','none'].book[*].price", [8.95, 12.99, 8.99]),
    ],
)
def test_a_path_that_may_select_several_gives_an_array(path: str, selected: object) -> None:
    assert evaluated(path, BOOKS) == selected


@pytest.mark.parametrize(
    "path", ["$.missing", "$.store.book[9]", "$.store.book.title", "$.store[0]", "$.store.a.b"]
)
def test_a_definite_path_that_selects_nothing_is_a_runtime_error(path: str) -> None:
    effect = enter({"Type": "Pass", "InputPath": path}, BOOKS)

    assert isinstance(effect, Failure)
    assert effect.error == "States.Runtime"
    assert path in effect.cause


def test_an_index_never_takes_a_character_out_of_a_string() -> None:
    assert evaluated("$.name[0]", {"name": "Ada"})[0] == "States.Runtime"


def test_two_dollars_read_the_context_object() -> None:
    context = {"Execution": {"Input": {"id": 4}}, "State": {"Name": "S"}}

    effect = enter({"Type": "Pass", "OutputPath": "$$.Execution.Input.id"}, {}, context)

    assert effect.output == 4


@pytest.mark.parametrize(
    "path", ["store", "", "$store[", "$.", "$.a[", "$[]", "$.a()", "$.a[?(@.b", "$.a b", "$x*"]
)
def test_a_text_that_is_no_path_is_refused_with_its_place(path: str) -> None:
    found = codes(alone({"Type": "Pass", "OutputPath": path}))

    assert [place for _, place in found] == ["/States/S/OutputPath"]


def test_a_broken_regular_expression_in_a_filter_is_refused() -> None:
    found = codes(alone({"Type": "Pass", "InputPath": "$[?(@.a =~ /(/)]"}))

    assert found == [("ASL_BAD_PATH", "/States/S/InputPath")]
