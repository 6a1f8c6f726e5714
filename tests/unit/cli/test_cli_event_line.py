"""The line of an event: what was decided, of what, and why."""

from __future__ import annotations

from dcf.cli.event_line import event_line
from dcf.tools import Decision

SKILL = "skill.support.refund_order@1.0.0"


def line_of(decision: Decision, **more: object) -> str:
    return event_line("ToolDecision", {**decision.to_event(), **more})


def test_a_decision_is_a_sentence_without_its_digest_and_lists() -> None:
    decision = Decision(
        "allow", "skill.declares", f"declared by {SKILL}", "pay", "refund", "sha256:ab", (SKILL,)
    )
    assert line_of(decision, **{"try": 1, "call": 0}) == (
        f"pay:refund allowed: declared by {SKILL} (risk low)"
    )


def test_a_refusal_says_so_and_in_which_try() -> None:
    decision = Decision("deny", "budget", "the budget is spent", "pay", "refund", risk="high")
    assert line_of(decision, **{"try": 2}) == (
        "pay:refund refused: the budget is spent (risk high, try 2)"
    )


def test_other_events_show_their_members_shortened() -> None:
    assert event_line("RunStarted", {"n": 3, "pins": "x" * 99}) == f"n 3  pins {'x' * 59}…"


def test_a_bundle_says_what_it_told_and_what_it_may_not() -> None:
    code = {"told": 1, "tokens": 40, "left_out": 2}
    given = {"budget": 2000, "tokens": 40, "kinds": {"code": code}, "left_out": 2}
    given |= {"citations": ["dcf://code/a.py/line/1"], "not_permitted": ["b.py"]}
    assert event_line("BundleGiven", {**given, "warnings": ["late"]}) == (
        "1 of code, 40 of 2,000 tokens, 2 left out: dcf://code/a.py/line/1;"
        " not permitted: b.py; late"
    )


def test_a_context_says_what_it_has_of_earlier_runs_and_of_branches() -> None:
    given = {"observations": ["dcf://memory/entry-1", "dcf://observation/21d186d3"], "tokens": 96}
    assert event_line("ContextGiven", given) == (
        "1 observation of earlier runs, 1 entry of branches, 96 tokens: entry-1 21d186d3"
    )


def test_playbooks_of_a_context_are_counted_apart() -> None:
    given = {"observations": ["dcf://playbook/playbook-1", "dcf://observation/21d186d3"]}
    assert event_line("ContextGiven", {**given, "tokens": 96}) == (
        "1 observation of earlier runs, 1 playbook, 96 tokens: playbook-1 21d186d3"
    )
