"""What the calls of an agent leave to be known outside of runs, by rule and without their data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcf.memory import AnsweredCall, OwnTurn
from dcf.worker.agent_observer import observations_of_turn

CUSTOMER = "customer 4711 of Kassel"


def call(
    tool: str = "pay", content: Any = "ok", of: int = 1, *, fails: bool = False
) -> AnsweredCall:
    return AnsweredCall(tool, {"of": of, "who": CUSTOMER}, content, fails)


def failed(code: str = "Pay.Busy", tool: str = "pay", of: int = 1) -> AnsweredCall:
    error = {"status": "error", "error": {"code": code, "message": f"{CUSTOMER} has to wait"}}
    return call(tool, error, of, fails=True)


def turn(*calls: AnsweredCall) -> OwnTurn:
    return OwnTurn("agent-1", 7, "/shop", 9, calls)


@pytest.mark.parametrize(
    ("calls", "titles"),
    [
        ([failed(), failed(of=2), failed()], ["pay failed again and again"]),
        (
            [failed(), failed(), failed(), call()],
            ["pay failed again and again, and answered at last"],
        ),
        # Twice is an accident; what answers in between is at work.
        ([failed(), failed()], []),
        ([failed(), failed(), call(), failed()], []),
        # Other tools in between say nothing of this one.
        ([failed(), call("ask"), failed(), failed()], ["pay failed again and again"]),
        ([call(content="1"), call(content="2")], ["pay answered the same call differently"]),
        ([call(content={"a": 1, "b": 2}), call(content={"b": 2, "a": 1})], []),
        ([call(content="1"), call(content="2", of=2)], []),
        # What another tool did may be why.
        ([call(content="1"), call("refund"), call(content="2")], []),
        ([call(content="1"), failed(), call(content="1")], []),
    ],
)
def test_what_is_worth_knowing(calls: list[AnsweredCall], titles: list[str]) -> None:
    found = observations_of_turn(turn(*calls))
    assert [one.title for one in found] == titles
    for one in found:
        assert CUSTOMER not in repr(replace(one, note=""))
        assert CUSTOMER in one.note or one.title.endswith("differently")
        assert str(one.origin.citation) == "dcf://agent/agent-1/message/7"
        assert (one.project, one.workflow, one.extracted) == ("/shop", "", False)


def test_an_error_is_told_if_its_name_looks_like_one() -> None:
    (one,) = observations_of_turn(turn(failed(), failed(CUSTOMER), failed()))
    assert one.facts == (
        "It failed with Pay.Busy.",
        "It failed with an error without a plain name.",
    )
