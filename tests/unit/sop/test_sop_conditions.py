"""Conditions: what the words mean, and what can never hold."""

from __future__ import annotations

import pytest

from dcf.sop import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Match,
    Membership,
    Name,
    Not,
    Presence,
    Unreadable,
    names_in,
    read_condition,
)
from dcf.sop.checks.conditions import covers, possible

A, B = Name("a"), Name("b.c")


def compare(operator: str, value: object) -> Condition:
    right = value if isinstance(value, Name) else Constant(value)  # type: ignore[arg-type]
    return Comparison(A, operator, right)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("`a` is over 5", compare(">", 5)),
        ("a > 5", compare(">", 5)),
        ("`a` exceeds -2.5", compare(">", -2.5)),
        ("`a` is less than `b.c`", compare("<", B)),
        ("`a` is at least 5", compare(">=", 5)),
        ("`a` ≤ 5", compare("<=", 5)),
        ("`a` is paid", compare("==", "paid")),
        ("`a` equals “two words”", compare("==", "two words")),
        ('`a` is "5"', compare("==", "5")),
        ("`a` is not yes", compare("!=", True)),
        ("`a`", compare("==", True)),
        ("not `a`", Not(compare("==", True))),
        ("`a` is present", Presence(A)),
        ("`a` is missing", Not(Presence(A))),
        ('`a` matches "x*"', Match(A, "x*")),
        ('`a` starts with "x*"', Match(A, "x\\**")),
        ('`a` ends with "y"', Match(A, "*y")),
        ("`a` is one of 1, two or 3", Membership(A, (Constant(1), Constant("two"), Constant(3)))),
        ("`a` is not in [1]", Not(Membership(A, (Constant(1),)))),
        (
            "`a` is 1 or `a` is 2 and not `b.c` is present",
            AnyOf((compare("==", 1), AllOf((compare("==", 2), Not(Presence(B)))))),
        ),
        (
            "(`a` is 1 or `a` is 2) and `b.c` is present",
            AllOf((AnyOf((compare("==", 1), compare("==", 2))), Presence(B))),
        ),
        (
            "`a` is one of x, y or `b.c` is present",
            AnyOf((Membership(A, (Constant("x"), Constant("y"))), Presence(B))),
        ),
    ],
)
def test_words_mean(text: str, condition: Condition) -> None:
    assert read_condition(text) == condition


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the total is high",
        "`a` is",
        "`a` > high",
        "`a` < true",
        "`a` is 1 and",
        "(`a` is 1",
        "`a` is not yet paid",
        "`a` > 1,000",
        "`a` matches 5",
        "`a",
        '"a" is 5',
        "__import__('os')",
        "`a` is 1e999",
    ],
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_condition(text)
    assert caught.value.code == "SOP_CONDITION"
    assert caught.value.hint


def test_the_names_that_are_looked_at() -> None:
    condition = read_condition("`a` is 1 and (`b.c` > `d` or `a` is missing)")
    assert names_in(condition) == (A, B, Name("d"))


@pytest.mark.parametrize(
    ("text", "can_hold"),
    [
        ("`a` is over 5 and `a` is below 3", False),
        ("`a` is over 5 and `a` is at most 5", False),
        ("`a` is at least 5 and `a` is at most 5", True),
        ("`a` is 1 and `a` is 2", False),
        ("`a` is 1 and `b` is 2", True),
        ("`a` is x and `a` is in [y, z]", False),
        ("`a` is missing and `a` is over 2", False),
        ("`a` is present and `a` is missing", False),
        ("`a` is 7 and `a` is below 3", False),
        ("`a` is 1 and `a` is 2 or `b` is 3", True),
        ("`a` is not 1 and `a` is not 2", True),
    ],
)
def test_contradictions_are_known(text: str, can_hold: bool) -> None:
    assert possible(read_condition(text)) is can_hold


@pytest.mark.parametrize(
    ("first", "second", "hidden"),
    [
        ("`a` is over 5", "`a` is over 7", True),
        ("`a` is over 7", "`a` is over 5", False),
        ("`a` is over 5", "`a` is at least 5", False),
        ("`a` is at least 5", "`a` is over 5", True),
        ("`a` is in [x, y]", "`a` is x", True),
        ("`a` is over 5", "`a` is 6", True),
        ("`a` is over 5", "`b` is over 7", False),
        ("`a` is over 5", "`a` is over 7 and `b` is 1", True),
        ("`a` is over 5 or `b` is 1", "`b` is 1", True),
        ("`a` is 1", "`a` is true", False),
    ],
)
def test_what_an_earlier_condition_hides(first: str, second: str, hidden: bool) -> None:
    assert covers(read_condition(first), read_condition(second)) is hidden
