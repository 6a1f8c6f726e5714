"""The rules by which words become a declared question."""

from __future__ import annotations

import pytest

from dcf.knowledge.asking import QUESTIONS, SURE, Names, match

RUNS = ["order-7f3a"]
NAMES = {"task_type": ["orders.charge_payment"]}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_the_example_of_each_question_is_understood_as_it(question: object) -> None:
    runs = [run for run in RUNS if run in question.example]  # type: ignore[attr-defined]
    matched = match(question.example, NAMES, runs)  # type: ignore[attr-defined]
    assert matched.question is question, matched.scores
    assert matched.score >= SURE


def test_what_needs_a_run_is_not_understood_without_one() -> None:
    matched = match("why did it fail?", {}, [])
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
