"""The rules by which words become a declared question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from benchmarks.graph_questions import (
    QUESTIONS_FILE,
    STRANGERS_FILE,
    Asked,
    asked_in,
    slots_of,
    strangers_in,
    understood,
)
from dcf.knowledge.asking import QUESTIONS, SURE, Asker, Matched, Names, match
from dcf.knowledge.asking.period import period_in

RUNS = ["order-7f3a"]
NAMES = {
    "task_type": ["orders.charge_payment"],
    "workflow": ["order-processing", "refund-flow"],
}
SESSIONS = ["helpdesk-1"]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_the_example_of_each_question_is_understood_as_it(question: object) -> None:
    runs = [run for run in RUNS if run in question.example]  # type: ignore[attr-defined]
    sessions = [one for one in SESSIONS if one in question.example]  # type: ignore[attr-defined]
    matched = match(question.example, {**NAMES, "session": sessions}, runs)  # type: ignore[attr-defined]
    assert matched.question is question, matched.scores
    assert matched.score >= SURE


def test_what_needs_a_run_is_not_understood_without_one() -> None:
    matched = match("what helped?", {}, [])
    assert matched.question is None and matched.missing == ("run",)


def test_cues_within_names_do_not_count() -> None:
    assert match("why.fail", {"task_type": ["why.fail"]}, ["order-7f3a"]).question is None


def test_dimensions_are_read_from_the_words() -> None:
    matched = match("how many outcomes by agent and error per day?", {}, [])
    assert matched.question is not None and set(matched.by) == {"agent", "error", "day"}


def test_names_are_found_as_people_write_them() -> None:
    both = frozenset({"task_type", "skill"})
    names = Names(
        {
            "orders.charge_payment": both,
            "skill.orders.charge_payment@1.0.0": frozenset({"skill"}),
            "mail.send": frozenset({"task_type"}),
            "letters.send": frozenset({"task_type"}),
        }
    )
    for words in ("orders.charge_payment", "charge payment", "Charge_Payment!"):
        assert names.within(f"about {words}")["task_type"] == ["orders.charge_payment"]
    # Two end alike: neither is meant for sure.
    assert names.within("how does send go?") == {}
    found = names.within("is orders.charge_payment@1.0.0 any good?")
    assert found == {"skill": ["skill.orders.charge_payment@1.0.0"]}


NOW = datetime(2026, 11, 25, 15, 30, tzinfo=UTC)
"""A Wednesday."""


@pytest.mark.parametrize(
    ("words", "question", "by", "order", "said"),
    [
        ("how many runs failed yesterday?", "runs", (), None, "yesterday"),
        ("how many runs were there by day?", "runs", ("day",), None, None),
        ("which run took longest?", "runs", ("run",), "slow", None),
        ("how much did we spend last week?", "costs", (), None, "last week"),
        ("which agent costs most?", "costs", ("agent",), "dear", None),
        ("which skill fails most?", "outcomes", ("skill",), "unreliable", None),
        ("which skill had the most failures?", "outcomes", ("skill",), "failures", None),
        ("which skill failed least?", "outcomes", ("skill",), "reliable", None),
        ("what is the worst skill?", "outcomes", ("skill",), "unreliable", None),
        ("which task takes longest?", "durations", ("task_type",), "slow", None),
        ("which errors were there in the last 3 days?", "outcomes", ("error",), None,
         "in the last 3 days"),
        ("which version succeeded most since monday?", "skills", (), None, "since monday"),
        ("which companion fails most?", "delegations", ("companion",), "unreliable", None),
        ("success rates by specialization since monday", "delegations", ("specialization",), None,
         "since monday"),
        ("how often did delegations fail by session?", "delegations", ("session",), None, None),
        ("how much did each companion cost?", "delegations", ("companion",), None, None),
        ("which patterns were measured yesterday?", "patterns", (), None, "yesterday"),
    ],
)  # fmt: skip
def test_counts_orders_and_times_are_read(
    words: str, question: str, by: tuple[str, ...], order: str | None, said: str | None
) -> None:
    found = match(words, {}, [], NOW)

    assert found.question is not None, (found.why_not, found.scores)
    assert (found.question.name, found.by, found.order) == (question, by, order)
    assert (found.period.said if found.period else None) == said
    assert found.unused == ()


@pytest.mark.parametrize(
    ("words", "why_not"),
    [
        ("which version works best for charging a payment?", "'charging', 'payment'"),
        ("how many refunds failed?", "'refunds'"),
        ("how many runs did not fail?", "'not'"),
        ("which task is the slowest, quickly please", "'quickly'"),
        ("how many runs failed with rainbows?", "'rainbows'"),
        ("rank the versions of yesterday", "no end of time"),
        ("what insights are there since monday?", "cannot be asked of a time"),
        ("how many runs failed with orders.charge_payment?", "cannot be asked of one task_type"),
        ("which version of orders.charge_payment or mail.send is best?", "one task_type at a time"),
    ],
)
def test_what_would_be_left_out_of_the_answer_is_refused(words: str, why_not: str) -> None:
    names = {"task_type": ["orders.charge_payment", "mail.send"]}

    found = match(words, names, [], NOW)

    assert found.question is None and why_not in found.why_not
    assert found.nearest


def test_what_is_asked_of_one_companion_or_specialization_is_asked_of_delegations() -> None:
    names = {"agent": ["ann"], "specialization": ["post"], "session": ["helpdesk-1"]}
    words = "how many tasks of helpdesk-1 were delegated to ann, with specialization post?"
    found = match(words, names, [], NOW)
    assert found.question is not None and found.question.name == "delegations"
    assert {name: list(one) for name, one in found.arguments.items()} == names


@pytest.mark.parametrize(
    ("words", "since", "until"),
    [
        ("24h", "2026-11-24T15:30", None),
        ("in the last 2w", "2026-11-11T15:30", None),
        ("today", "2026-11-25T00:00", "2026-11-26T00:00"),
        ("yesterday", "2026-11-24T00:00", "2026-11-25T00:00"),
        ("last week", "2026-11-16T00:00", "2026-11-23T00:00"),
        ("this week", "2026-11-23T00:00", None),
        ("last month", "2026-10-01T00:00", "2026-11-01T00:00"),
        ("last year", "2025-01-01T00:00", "2026-01-01T00:00"),
        ("on monday", "2026-11-23T00:00", "2026-11-24T00:00"),
        ("last wednesday", "2026-11-18T00:00", "2026-11-19T00:00"),
        ("on 2026-11-20", "2026-11-20T00:00", "2026-11-21T00:00"),
        ("since yesterday", "2026-11-24T00:00", None),
        ("since 2026-11-20", "2026-11-20T00:00", None),
        ("since two weeks ago", "2026-11-11T15:30", None),
        ("in the last 24 hours", "2026-11-24T15:30", None),
        ("over the past week", "2026-11-18T15:30", None),
        ("before monday", "1970-01-01T00:00", "2026-11-23T00:00"),
        ("after monday", "2026-11-24T00:00", None),
        ("after last week", "2026-11-23T00:00", None),
        ("between 2026-11-03 and 2026-11-05", "2026-11-03T00:00", "2026-11-06T00:00"),
        ("from last monday to yesterday", "2026-11-23T00:00", "2026-11-25T00:00"),
        ("since last week until yesterday", "2026-11-16T00:00", "2026-11-25T00:00"),
        ("between monday and now", "2026-11-23T00:00", None),
        ("between friday and monday", "2026-11-20T00:00", "2026-11-24T00:00"),
        ("from monday on", "2026-11-23T00:00", None),
        ("3 days ago", "2026-11-22T00:00", "2026-11-23T00:00"),
    ],
)
def test_times_are_read(words: str, since: str, until: str | None) -> None:
    found = period_in(f"how many runs failed {words}?", NOW)

    def ms(said: str) -> int:
        return round(datetime.fromisoformat(f"{said}+00:00").timestamp() * 1000)

    assert found is not None and found.said == words
    # A day or a week that is not over ends now.
    over = until is not None and datetime.fromisoformat(f"{until}+00:00") <= NOW
    assert (found.since, found.until) == (ms(since), ms(until) if until and over else None)


@pytest.mark.parametrize("words", ["since when", "on 2026-02-31", "the last straw", "weekly"])
def test_what_is_no_time_is_none(words: str) -> None:
    assert period_in(words, NOW) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("how many runs failed until yesterday?", "until yesterday"),
        ("how many runs failed by monday?", "by monday"),
        ("how many runs failed yesterday and today?", "today"),
        ("how many runs failed between monday and friday?", "friday"),  # which is not over
        ("how many runs failed before the last 3 days?", "before the last 3 days"),
        ("how many runs failed the day before yesterday?", "day before yesterday"),
        ("how many runs failed 2 days before yesterday?", "days before yesterday"),
        ("how many runs will fail tomorrow?", "tomorrow"),
        ("runs that failed 3 weeks ago by day", "3 weeks"),
        ("how many runs failed next week?", "next week"),
        ("how many runs failed in may?", "in may"),
        ("how many runs failed yesterday morning?", "morning"),
        ("how many runs failed every monday?", "every monday"),
        ("how many runs took more than 5 minutes?", "5 minutes"),
        (f"how many runs failed in the last {'9' * 5000} days?", f"{'9' * 5000} days"),
        ("how many runs failed in the last 9999 years?", "9999 years"),
        ("runs over 2h", "2h"),
        ("which runs took 2h?", "2h"),
        ("are we better than monday?", "than monday"),
    ],
)
def test_a_time_in_other_words_is_refused_not_left_out(words: str, said: str) -> None:
    found = match(words, {}, [], NOW)

    assert found.question is None and found.nearest
    assert f"'{said}' says another time" in found.why_not


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("which skill fails most and takes longest?", "greatest first and the longest"),
        ("which agent costs less?", "'less'"),
        ("how many runs failed before the release?", "'release'"),
    ],
)
def test_what_comes_first_in_other_words_is_refused_not_left_out(words: str, said: str) -> None:
    found = match(words, {}, [], NOW)

    assert found.question is None and found.nearest
    assert said in found.why_not


class NamelessGraph:
    """A graph that knows nothing, and is asked for names only."""

    graph = property(lambda self: self)

    async def read(self, query: str, **given: Any) -> list[Any]:
        return []


class ChoosesOutcomes:
    """A model for which everything is about outcomes."""

    async def choose(self, question: str, offer: Sequence[Any]) -> Any:
        return {"question": "outcomes"}


async def no_embedder() -> Any:
    raise AssertionError("nothing compares texts here")


def test_what_a_model_chooses_is_held_against_time_and_order_by_the_same_rules() -> None:
    asker = Asker(
        cast(Any, NamelessGraph()), no_embedder, chooser=ChoosesOutcomes(), now=lambda: NOW
    )

    def asked(words: str) -> Matched:
        return asyncio.run(asker.ask(words)).matched

    assert "until yesterday" in asked("mail: what failed until yesterday?").why_not
    assert "greatest first and the longest" in asked("mail: what failed most, and longest?").why_not


def test_names_that_come_near_are_found_by_their_words() -> None:
    names = Names({
        "orders.charge_payment": frozenset({"task_type"}),
        "mail.send": frozenset({"task_type"}),
    })  # fmt: skip
    assert names.near(["charging", "payments"]) == ["orders.charge_payment"]
    assert names.near(["rainbows"]) == []


@pytest.mark.parametrize(
    ("words", "question", "choices", "order"),
    [
        ("which runs failed yesterday?", "listing", {"status": "failed"}, None),
        ("what was the first run that succeeded?", "listing", {"status": "succeeded"}, "first"),
        ("has it become slower since monday?", "trend", {"of": "duration"}, None),
        ("are we spending more and more?", "trend", {"of": "cost"}, None),
        ("wich runs faild?", "listing", {"status": "failed"}, None),
    ],
)
def test_what_a_question_alone_can_be_asked_is_read(
    words: str, question: str, choices: dict[str, str], order: str | None
) -> None:
    found = match(words, {}, [], NOW)

    assert found.question is not None and found.question.name == question, found.why_not
    assert (found.choices, found.order) == (choices, order)


def rightly_answered(asked: Sequence[Asked]) -> float:
    """The share of the left-out half that is answered rightly, if nothing is wrong."""
    verdicts = {one: one.verdict(understood(one.words)) for one in asked}
    assert [one.words for one in asked if verdicts[one] == "wrong"] == []
    left = [one for one in asked if one.is_left_out and one.answers]
    return sum(verdicts[one] == "right" for one in left) / len(left)


def test_the_left_out_half_of_the_questions_is_understood_and_nothing_is_answered_wrongly() -> None:
    """The target of issue 29; the questions were written before the grammar."""
    asked = list(asked_in(QUESTIONS_FILE.read_text()))

    assert len({str(one.answers) for one in asked}) > 60
    assert sum(not one.answers for one in asked) >= 40
    assert rightly_answered(asked) >= 0.8


def test_so_are_questions_that_other_voices_ask() -> None:
    """Written before their author had read the grammar."""
    asked = list(strangers_in(STRANGERS_FILE.read_text()))

    assert (len(asked), sum(not one.answers for one in asked)) == (80, 15)
    assert rightly_answered(asked) >= 0.8


V10, V11 = "skill.orders.charge_payment@1.0.0", "skill.orders.charge_payment@1.1.0"


@pytest.mark.parametrize(
    ("words", "question", "slots"),
    [
        ("how often was search_orders called yesterday?", "tools",
         {"tool": "search_orders", "when": "yesterday"}),
        ("what tools does claude-worker use?", "tools", {"agent": "claude-worker", "by": "tool"}),
        ("in which runs did payment_gateway fail?", "listing",
         {"tool": "payment_gateway", "status": "failed"}),
        ("what did bob reject last week?", "approvals",
         {"approver": "bob", "decision": "reject", "when": "last-week"}),
        ("which approvals were fastest?", "approvals", {"order": "fast"}),
        ("how often did ann approve this month?", "deciders",
         {"approver": "ann", "decision": "approve", "when": "this-month"}),
        ("who approved most?", "deciders", {"decision": "approve"}),
        ("which approver rejects most?", "deciders", {"decision": "reject", "by": "approver"}),
        ("how many approvals did bob give since monday?", "deciders",
         {"approver": "bob", "decision": "approve", "when": "since-monday"}),
        ("approvals per person", "deciders", {"decision": "approve", "by": "approver"}),
        ("which workflow is approved most?", "deciders",
         {"decision": "approve", "by": "workflow"}),
        ("how many people approved order-7f3a?", "deciders",
         {"run": "order-7f3a", "decision": "approve", "by": "approver"}),
        ("which tools does each agent use?", "tools", {"by": "agent,tool"}),
        ("which agents used Bash since monday?", "tools",
         {"tool": "Bash", "by": "agent", "when": "since-monday"}),
        ("which agent calls Bash most?", "tools", {"tool": "Bash", "by": "agent"}),
        ("did claude-worker fail more this week than last week?", "periods",
         {"agent": "claude-worker", "of": "success", "when": "since-monday",
          "against": "last-week"}),
        ("are there more errors than yesterday?", "periods",
         {"of": "success", "when": "today", "against": "yesterday"}),
        ("cost today compared with the previous day", "periods",
         {"of": "cost", "when": "today", "against": "yesterday"}),
        ("charge payment v1.1.0 success rate", "outcomes", {"skill": V11}),
        ("is version 1.0.0 of charge_payment better than 1.1.0?", "comparison",
         {"skill": f"{V10},{V11}"}),
        ("runs that timed out yesterday", "listing",
         {"status": "failed", "error": "States.Timeout", "when": "yesterday"}),
        ("which runs had a card declined?", "listing",
         {"status": "failed", "error": "CardDeclined"}),
        ("how relaible is order-processing?", "runs", {"workflow": "order-processing"}),
        ("how many delegetions failed yesterday?", "delegations", {"when": "yesterday"}),
        ("hello, i'm new here, would you show me the failed runs?", "listing",
         {"status": "failed"}),
    ],
)  # fmt: skip
def test_tools_approvals_and_two_times_are_asked_for_in_many_ways(
    words: str, question: str, slots: dict[str, str]
) -> None:
    found = understood(words)

    assert found.question is not None and found.question.name == question, found.why_not
    assert slots_of(found) == slots


@pytest.mark.parametrize(
    "words",
    [
        "who can approve order-7f3a?",
        "who has to approve order-7f3a?",
        "which tasks need approval?",
        "why was order-7f3a approved?",
        "approve everything",
        "what did ann approve most?",
        "what was approved most?",
        "who approved least?",
        "how many approvals does order-processing need?",
        "how many approvals are needed?",
        "how many runs were approved last week?",
        "how many people failed?",
        "how often was each agent called?",
        "which check failed?",
        "which runs had strange errors?",
        "which tool is the slowest?",
        "which tools may claude-worker use?",
        "which runs charged?",
        "is 1.1.0 better than 1.0.0?",
        "charge_payment 3.0.0 vs 1.0.0",
        "did each agent fail more this week than last week?",
        "which runs failed this week but not last week?",
        "why is it slower than last week?",
    ],
)
def test_what_comes_near_to_those_and_is_not_known_is_refused(words: str) -> None:
    assert understood(words).question is None


def test_a_short_name_stands_for_the_skill_or_for_what_it_may_be() -> None:
    names = Names(
        {
            "skill.orders.charge_payment": frozenset({"skill"}),
            "skill.orders.charge_payment@1.0.0": frozenset({"skill"}),
            "skill.mail.send": frozenset({"skill"}),
            "skill.letters.send": frozenset({"skill"}),
            "orders.charge_payment": frozenset({"task_type"}),
        }
    )
    whole = ("skill.orders.charge_payment",)
    for said in ("charge_payment", "orders.charge_payment", "skill.orders.charge_payment"):
        assert names.meant(said, "skill") == whole
    assert names.meant("charge_payment@1.0.0", "skill") == ("skill.orders.charge_payment@1.0.0",)
    assert names.meant("send", "skill") == ("skill.letters.send", "skill.mail.send")
    assert names.meant("charge_payment", "task_type") == ("orders.charge_payment",)
    assert names.meant("payment", "agent") == names.meant("rainbow", "skill") == ()
