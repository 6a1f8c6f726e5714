"""Parameters as text: what the server would refuse, cut or run as a query never gets there."""

from __future__ import annotations

import pytest

from dcf.knowledge import never_zero
from dcf.knowledge.cypher import literal, query, vector


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "true"),
        (12, "12"),
        (2**63, "null"),
        (1.5, "1.5"),
        (float("nan"), "null"),
        (float("inf"), "null"),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("a\x00b", '"ab"'),
        ([1, "x"], '[1,"x"]'),
        ({"a": None, "b-c": [True]}, "{`a`:null,`b-c`:[true]}"),
        (vector([0.5, -1]), "[0.5,-1]"),
    ],
)
def test_values_become_literals(value: object, expected: str) -> None:
    assert literal(value) == expected


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        literal(object())
    with pytest.raises(ValueError, match="name of a property"):
        literal({"a`b": 1})


def test_parameters_stand_before_the_query() -> None:
    assert query("RETURN $a", a=1, b="x") == 'CYPHER a=1 b="x" RETURN $a'
    assert query("RETURN 1") == "RETURN 1"


def test_a_vector_of_zeros_becomes_one_of_length_one_that_depends_on_the_text() -> None:
    one, other = never_zero("one", [0.0] * 64), never_zero("other", [0.0] * 64)
    assert sum(part * part for part in one) == pytest.approx(1)
    assert one == never_zero("one", [0.0] * 64) != other
    assert never_zero("one", [0.0, 1.0]) == [0.0, 1.0]
