"""Filters: ``array[predicate]`` by position or by what holds, evaluated once if it can be."""

from __future__ import annotations

from typing import Any

import pytest
from jsonata_scope import jsonata, jsonata_cause

from dcf.asl.jsonata import engine

LETTERS = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("index", "selected"),
    [
        ("2", "c"),
        ("-1", "e"),
        ("1.9", "b"),
        ("-0.5", "e"),
        ("$two", "c"),
        ("-$two", "d"),
        ("$two + 1", "d"),
        ("($two)", "c"),
        ("$half", "b"),
        ("$at.last", "e"),
        ("[0, 2]", ["a", "c"]),
        ("[2, 0, 2]", ["a", "c", "c"]),
        ("[0..2]", ["a", "b", "c"]),
        ("$two = 2", LETTERS),
        ("true", LETTERS),
        ("'text'", LETTERS),
        ("$ = 'd'", "d"),
        ("$ in ['a', 'e']", ["a", "e"]),
    ],
)
def test_what_a_filter_selects(index: str, selected: Any) -> None:
    given = {"x": LETTERS, "two": 2, "half": 1.5, "at": {"last": -1}}

    assert jsonata(f"$x[{index}]", **given) == selected
    assert jsonata(f"$states.input.x[{index}]", {"x": LETTERS}, **given) == selected


@pytest.mark.parametrize("index", ["5", "-6", "$none", "$two = 3", "false", "[7, 8]", "''"])
def test_a_filter_that_selects_nothing_is_undefined(index: str) -> None:
    assert "undefined" in jsonata_cause(f"$x[{index}]", x=LETTERS, two=2)


def test_a_field_behind_an_index() -> None:
    rows = [{"n": {"m": 1}}, {"n": {"m": 2}}]

    assert jsonata("$x[$i].n.m", x=rows, i=1) == 2


def test_null_and_an_array_at_an_index() -> None:
    assert jsonata("$x[0]", x=[None, [1, 2]]) is None
    assert jsonata("$x[$i]", x=[None, [1, 2]], i=1) == [1, 2]


def test_a_value_that_is_no_array_is_its_own_first_item() -> None:
    assert jsonata("$x[$i]", x={"a": 1}, i=0) == {"a": 1}


def test_an_index_without_a_sense_fails_as_an_expression() -> None:
    assert "T2001" in jsonata_cause("$x['a' + 1]", x=LETTERS)


@pytest.mark.parametrize(
    "text", ["$x[$i]", "$x[$i + 0]", "$x[$i].n", "$count($x[$i + 0])", "[$x[$i]]"]
)
def test_an_index_costs_the_same_in_an_array_of_any_length(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    given: list[str] = []
    ask = engine._engine.ask

    def watched(request: str) -> bytes:
        given.append(request)
        return ask(request)

    monkeypatch.setattr(engine._engine, "ask", watched)

    def cost(length: int) -> int:
        given.clear()
        jsonata(text, x=[{"n": n} for n in range(length)], i=3)
        return sum(map(len, given))

    assert cost(10) == cost(10_000)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$x[$i].n & '!'", "3!"),
        ("$x[$i + 1].n + $x[0].n", 4),
        ("($i := 0; [$x[$i].n])", [0]),
        ("$map([1, 2], function($i) { $x[$i].n })", [1, 2]),
        ("[$x[$i].n.m]", []),
        ("$x[$i].($.n)", 3),
        ("$x[$i]{'k': n}", {"k": 3}),
        ("$count($x[$none])", 0),
        ("$x[n = $x[$i].n].n", 3),
        ("$x[0].n % $x[$i].n", 0),
    ],
)
def test_an_item_that_is_picked_within_an_expression(text: str, result: Any) -> None:
    assert jsonata(text, x=[{"n": n} for n in range(10)], i=3) == result


@pytest.mark.parametrize("number", [1.0, -2.0, 2.0**62])
def test_whole_numbers_are_written_alike_wherever_they_stand(number: float) -> None:
    whole = jsonata("$states.input", {"n": [number]})

    assert repr(whole["n"][0]) == repr(int(number))
    assert repr(jsonata("{'q': $states.input}", {"n": [number]})["q"]) == repr(whole)


def test_an_integer_beyond_64_bits_is_a_float_wherever_it_stands() -> None:
    assert repr(jsonata("$states.input", [2**70])) == repr([float(2**70)])
    assert repr(jsonata("[$states.input]", [2**70])) == repr([float(2**70)])


def test_data_without_such_numbers_is_not_copied() -> None:
    data = {"a": [1, 1.5, "x", None, {"b": True}]}

    assert jsonata("$states.input", data) is data
