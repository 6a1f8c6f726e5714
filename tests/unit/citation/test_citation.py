"""What may be cited, and the one way to write it."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from dcf.citation import KINDS, TEMPLATES, Citation, InvalidCitation, Part

WRITTEN = [
    (Citation("observation", "o-1"), "dcf://observation/o-1"),
    (Citation("thread", "t1"), "dcf://thread/t1"),
    (Citation("thread", "t1", "turn", number=3), "dcf://thread/t1/turn/3"),
    (Citation("thread", "t1", "observation", "o 1"), "dcf://thread/t1/observation/o%201"),
    (Citation("issue", "bd-7"), "dcf://issue/bd-7"),
    (Citation("attempt", "a"), "dcf://attempt/a"),
    (Citation("attempt", "a", "step", number=12), "dcf://attempt/a/step/12"),
    (Citation("run", "w_1"), "dcf://run/w_1"),
    (Citation("run", "w_1", "state", "Map/0/Pay"), "dcf://run/w_1/state/Map%2F0%2FPay"),
    (Citation("session", "s"), "dcf://session/s"),
    (Citation("session", "s-1", "turn", number=3), "dcf://session/s-1/turn/3"),
    (Citation("session", "s", "task", "t"), "dcf://session/s/task/t"),
    (Citation("session", "s", "companion", "c"), "dcf://session/s/companion/c"),
    (Citation("skill", "pay.refund"), "dcf://skill/pay.refund"),
    (Citation("skill", "pay", "version", "1.2.0+b"), "dcf://skill/pay/version/1.2.0%2Bb"),
    (Citation("agent", "a", "message", "m"), "dcf://agent/a/message/m"),
    (Citation("agent", "a", "block", "~ü"), "dcf://agent/a/block/~%C3%BC"),
    (Citation("document", "d"), "dcf://document/d"),
    (Citation("document", "d", "page", number=2), "dcf://document/d/page/2"),
    (Citation("document", "d", "line", number=2, last=9), "dcf://document/d/line/2-9"),
    (Citation("playbook", "p"), "dcf://playbook/p"),
    (Citation("memory", "100%"), "dcf://memory/100%25"),
    (Citation("node", "turn"), "dcf://node/turn"),
    (Citation("code", "src/a.py", "line", number=4), "dcf://code/src%2Fa.py/line/4"),
]


@pytest.mark.parametrize(("citation", "text"), WRITTEN)
def test_how_it_is_written(citation: Citation, text: str) -> None:
    assert str(citation) == text


def test_each_form_is_written_above() -> None:
    assert len({(one.kind, one.part) for one, _ in WRITTEN}) == len(WRITTEN) == len(TEMPLATES)
    assert {one.kind for one, _ in WRITTEN} == set(KINDS)
    assert {one.part for one, _ in WRITTEN} - {None} == set(get_args(Part))


def test_a_range_of_one_line_is_that_line() -> None:
    one = Citation("code", "a.py", "line", number=4)
    assert Citation("code", "a.py", "line", number=4, last=4) == one


def codes(*given: Any, **named: Any) -> list[tuple[str, str]]:
    """(code without its room, field) of what is wrong with a citation."""
    with pytest.raises(InvalidCitation) as error:
        Citation(*given, **named)
    problems = error.value.problems
    assert all(one.hint for one in problems)
    return [(one.code.removeprefix("citation-"), one.path) for one in problems]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "id-empty"),
        (".", "id-dots"),
        ("..", "id-dots"),
        ("a\x00", "id-control"),
        ("a\x85b", "id-control"),
        ("\ud800", "id-surrogate"),
    ],
)
def test_what_is_no_id(text: str, code: str) -> None:
    assert codes("issue", text) == [(code, "/id")]
    assert codes("run", "w", "state", text) == [(code, "/part_id")]


def test_what_is_no_number() -> None:
    # Python refuses to write numbers of more than 4,300 digits.
    for number in (0, -1, 10**15, 10**5000, -(10**5000)):
        assert codes("thread", "t", "turn", number=number) == [("number", "/number")]


def test_the_largest_number_is_one() -> None:
    number = 10**15 - 1
    assert str(Citation("thread", "t", "turn", number=number)).endswith("/999999999999999")


def test_what_no_form_has() -> None:
    assert codes("issues", "7") == [("kind", "/kind")]
    assert codes("issue", "7", "turn", number=1) == [("part", "/part")]
    assert codes("agent", "a") == [("part", "/part")]
    assert codes("thread", "t", "turn") == [("value", "/number")]
    assert codes("thread", "t", number=1) == [("value", "/number")]
    assert codes("thread", "t", "turn", number=1, last=2) == [("value", "/last")]
    assert codes("thread", "t", "turn", "x", number=1) == [("value", "/part_id")]
    assert codes("document", "d", "line", number=9, last=3) == [("range", "/last")]


def test_all_that_is_wrong_is_said() -> None:
    assert codes("document", "..", "line", number=0, last=10**15) == [
        ("id-dots", "/id"),
        ("number", "/number"),
        ("number", "/last"),
    ]


def test_how_long_it_may_be() -> None:
    # 12 characters stand before the id; each ü takes six.
    assert len(str(Citation("issue", "a" * (2048 - 12)))) == 2048
    assert codes("issue", "a" * (2048 - 11)) == [("too-long", "")]
    assert codes("issue", "ü" * 340) == [("too-long", "")]
