"""A manual task at a terminal: what is left open is asked for, and nothing counts before a yes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dcf.cli.tasks import _asked_for
from dcf.cli.trouble import NotSo
from dcf.tools import ApprovalRequest
from dcf.workflow import ManualAnswer, PendingApproval, WaitingTask

SCHEMA = {
    "type": "object",
    "properties": {"ticket": {"type": "string"}, "tries": {"type": "integer"}, "more": {}},
    "required": ["ticket"],
}


class Silent:
    def say(self, line: str) -> None: ...


def waiting() -> WaitingTask:
    said = {"instruction": "Look.", "by": ["dba"], "choices": ["yes", "no"], "result": SCHEMA}
    request = ApprovalRequest(
        "", "A", {**said, "input": None}, "sha256:0", (), "low", "", "dba", ("dba",)
    )
    return WaitingTask(
        PendingApproval("r", "repair", "A", 1, 1, 1, "manual", request, (), 0, None, 0)
    )


def answering(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Give these answers; what was asked."""
    left: Iterator[str] = iter(answers)
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(left)

    monkeypatch.setattr("builtins.input", answer)
    return asked


def said(monkeypatch: pytest.MonkeyPatch, given: ManualAnswer, *answers: str) -> ManualAnswer:
    answering(monkeypatch, *answers)
    screen: Any = Silent()
    return _asked_for(waiting(), given, screen)


def test_a_choice_and_what_is_to_be_reported_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ManualAnswer("done", "dba", result={})

    found = said(monkeypatch, given, "2", "007", "3", "", "y")
    assert found == ManualAnswer("done", "dba", "no", {"ticket": "007", "tries": 3})
    by_name = said(monkeypatch, given, "yes", "7", "x", '["a"]', "Y")
    assert by_name.answer == "yes"
    # What is no JSON is left for the check against the schema to refuse.
    assert by_name.result == {"ticket": "7", "tries": "x", "more": ["a"]}


def test_what_the_command_line_says_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"ticket": "OPS-1", "tries": 1, "more": None}
    given = ManualAnswer("done", "dba", "yes", whole)

    assert said(monkeypatch, given, "y") == given


def test_a_failure_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    found = said(monkeypatch, ManualAnswer("failed", "dba"), "it burnt", "y")

    assert found.note == "it burnt"


@pytest.mark.parametrize("last", ["", "n", "done"])
def test_nothing_is_answered_without_a_yes(monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    with pytest.raises(NotSo, match="nothing was answered"):
        said(monkeypatch, ManualAnswer("failed", "dba", note="it burnt"), last)
