"""Placeholders in responses."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.tools.stub.chance import Chance
from dcf.tools.stub.templates import Template

ARGUMENTS = {"n": 3, "who": "Ann", "list": [{"x": True}, None], "o": {"k": 1.5}, "uuid": "mine"}
LONG = "9" * 5_000
"""More digits than Python reads as a number."""


def chance(**changes: Any) -> Chance:
    fields: dict[str, Any] = {
        "seed": 1,
        "server_id": "s",
        "tool_name": "t",
        "case_id": "c",
        "occasion": "key",
    }
    return Chance(**{**fields, **changes})


def render(value: Any, draws: Chance | None = None) -> Any:
    # 2009-02-13T23:31:30Z is the well-known moment 1234567890.
    return Template(ARGUMENTS, draws or chance(), 1234567890.25).render(value)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{args.n}}", 3),
        ("{{n}}", 3),
        ("{{ n }}", 3),
        ("{{list[0].x}}", True),
        ("{{list[1]}}", None),
        ("{{o}}", {"k": 1.5}),
        ("no. {{n}}", "no. 3"),
        ("{{who}} is {{list[0].x}}: {{o}}", 'Ann is true: {"k":1.5}'),
        ("{{nobody}} {{list[9]}}", "{{nobody}} {{list[9]}}"),
        ("{{n.x}}", "{{n.x}}"),
        (f"{{{{list[{LONG}]}}}}", f"{{{{list[{LONG}]}}}}"),
        (f"{{{{random_int(1,{LONG})}}}}", f"{{{{random_int(1,{LONG})}}}}"),
        ("{{now_iso}}", "2009-02-13T23:31:30.250Z"),
        ("{{random_int(4, 4)}}", 4),
        ({"{{n}}": ["{{n}}", {"a": "{{who}}"}], "b": 1}, {"{{n}}": [3, {"a": "Ann"}], "b": 1}),
    ],
)
def test_a_placeholder_alone_keeps_its_type(template: Any, expected: Any) -> None:
    assert render(template) == expected


@settings(deadline=None)
@given(st.integers(), st.integers(), st.integers())
def test_a_random_integer_lies_between_its_bounds(seed: int, low: int, high: int) -> None:
    value = render(f"{{{{random_int({low},{high})}}}}", chance(seed=seed))
    assert min(low, high) <= value <= max(low, high)


def test_a_uuid_is_a_uuid_and_the_name_wins_over_an_argument() -> None:
    assert uuid.UUID(render("{{uuid}}")).version == 4


def test_the_same_call_draws_the_same_values_and_two_placeholders_differ() -> None:
    first, second = render(["{{uuid}}", "{{uuid}}"])
    assert first != second
    assert render(["{{uuid}}", "{{uuid}}"]) == [first, second]


@pytest.mark.parametrize(
    "change",
    [{"seed": 2}, {"server_id": "x"}, {"tool_name": "x"}, {"case_id": "x"}, {"occasion": 1}],
)
def test_seed_tool_case_and_occasion_all_matter(change: dict[str, Any]) -> None:
    assert render("{{uuid}}") != render("{{uuid}}", chance(**change))


def test_shares_are_spread_evenly() -> None:
    shares = [chance(occasion=number).share("flaky") for number in range(4000)]
    assert all(0 <= share < 1 for share in shares)
    # Standard error of the mean is 0.0046; five of them never happen by chance.
    assert abs(sum(shares) / len(shares) - 0.5) < 0.023
