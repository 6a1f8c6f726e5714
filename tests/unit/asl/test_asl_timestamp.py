"""Timestamps: RFC 3339, exact to the nanosecond."""

from __future__ import annotations

import pytest
from asl_builders import enter

from dcf.asl.timestamp import parse_instant, parse_timestamp

FIRST, SECOND = "2016-03-14T01:59:00.000000001Z", "2016-03-14T01:59:00.000000002Z"


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.5Z", 500_000_000),
        ("1970-01-02T00:00:00.000000001Z", 86_400_000_000_001),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T23:59:59.75Z", -250_000_000),
    ],
)
def test_an_instant_is_exact(text: str, nanoseconds: int) -> None:
    assert parse_instant(text) == nanoseconds
    assert parse_timestamp(text) == nanoseconds / 1e9


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        ("TimestampEquals", False),
        ("TimestampLessThan", True),
        ("TimestampLessThanEquals", True),
        ("TimestampGreaterThan", False),
        ("TimestampGreaterThanEquals", False),
    ],
)
def test_a_nanosecond_makes_a_difference(operator: str, holds: bool) -> None:
    rule = {"Variable": "$.t", operator: SECOND, "Next": "Next"}

    effect = enter({"Type": "Choice", "Choices": [rule], "Default": "S"}, {"t": FIRST})

    assert (effect.next == "Next") is holds


def test_the_same_instant_may_be_written_with_another_offset() -> None:
    rule = {"Variable": "$.t", "TimestampEquals": FIRST, "Next": "Next"}
    data = {"t": "2016-03-14T03:59:00.000000001+02:00"}

    assert enter({"Type": "Choice", "Choices": [rule], "Default": "S"}, data).next == "Next"
