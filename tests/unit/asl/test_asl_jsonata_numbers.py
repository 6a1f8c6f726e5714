"""Numbers of JSONata: what is none is an error, and what an integer of 64 bits becomes."""

from __future__ import annotations

from typing import Any

import pytest
from jsonata_scope import jsonata, jsonata_cause


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
