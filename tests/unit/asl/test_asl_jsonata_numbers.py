"""Numbers of JSONata: what is none is an error, and what an integer of 64 bits becomes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from jsonata_scope import jsonata, jsonata_cause

from dcf.asl.errors import EvaluationError
from dcf.asl.jsonata.expression import compile_jsonata
from dcf.asl.scope import Scope


@pytest.mark.parametrize(
    "text",
    [
        *("1 / 0", "0 / 0", "0 % 0", "[0 / 0]", "{'a': [1, {'b': 5 % 0}]}", "$sum([0 / 0, 1])"),
        *("[null, 0 / 0]", "$map([0], function($v) { $v / 0 })", "[1 / 0]", "1e300 * 1e300"),
        "[1..2].(0 / 0)",
    ],
)
def test_what_json_has_no_number_for_is_an_error(text: str) -> None:
    assert "D1001: Number out of range" in jsonata_cause(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[null, 4 / 2]", [None, 2]),
        ("{'a': $states.input.a / 2, 'b': null}", {"a": 2, "b": None}),
        ("0 / 0 = 0 / 0", False),
        ("$exists(0 / 0)", True),
    ],
)
def test_a_null_beside_a_division_is_none(text: str, value: Any) -> None:
    assert jsonata(text, {"a": 4}) == value


@pytest.mark.parametrize("seed", range(8))
def test_chance_decides_once_whether_there_is_a_number(seed: int) -> None:
    read = compile_jsonata("{% $random() < 0.5 ? [null, 0 / 0] : [null, 1] %}", "Output")
    low = compile_jsonata("{% $random() < 0.5 %}", "Output")(Scope(None, {}, {}, Random(seed)))
    try:
        assert read(Scope(None, {}, {}, Random(seed))) == [None, 1]
        assert not low
    except EvaluationError as error:
        assert low and "D1001" in str(error)


BIG = 2**53 + 1
"""The first integer that no double is; the nearest ones are one less and three more."""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Data come out as they went in, whatever is done around them, and are doubles in between.
        ("$states.input", [BIG, BIG + 1]),
        ("$states.input ~> $reverse()", [BIG + 1, BIG]),
        ("$sort($states.input, function($a, $b) { $a < $b })", [BIG + 1, BIG]),
        ("$states.input[0] = $states.input[1]", False),
        ("$states.input[0] + 0", BIG),
        ("$states.input[0] + 2", BIG + 1),
        # What an expression or a text says is a double, as in the reference.
        (f"{BIG}", BIG - 1),
        (f"[{BIG}, {BIG - 1}, {BIG + 2}]", [BIG - 1, BIG - 1, BIG + 3]),
        (f"$string({BIG})", str(BIG - 1)),
        (f"$parse('{BIG}')", BIG - 1),
        (f"$parse('[{BIG}, {BIG - 1}, -{BIG}]')", [BIG - 1, BIG - 1, 1 - BIG]),
        ("$parse('12345678901234567890')", 12345678901234567890.0),
        (f"$states.input[0] = {BIG}", True),
    ],
)
def test_integers_beyond_doubles(text: str, value: Any) -> None:
    assert jsonata(text, [BIG, BIG + 1]) == value


@pytest.mark.parametrize("text", ["1e400", "-1e400", "[1" + "0" * 400 + "]", "NaN", "Infinity"])
def test_a_text_with_a_number_that_is_none_is_refused(text: str) -> None:
    assert "D3137: Invalid JSON" in jsonata_cause(f"$parse('{text}')")
