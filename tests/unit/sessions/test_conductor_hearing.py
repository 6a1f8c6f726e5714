"""What a conductor by rule hears in a message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dcf.sessions.conductor import BadRequest, ConductorRules
from dcf.sessions.conductor.hearing import Heard, hear
from dcf.sessions.conductor.line import Wish, read_line

RULES = ConductorRules.default()


def heard(text: str, *, has_question: bool = False) -> Heard:
    return hear(text, RULES, has_question=has_question)


@pytest.mark.parametrize(
    ("line", "wish"),
    [
        ("Check the stock", Wish("Check the stock")),
        ("Check order_id=ORD-1004 now", Wish("Check now", inputs={"order_id": "ORD-1004"})),
        ("Check (order_id: ORD-7, n=3).", Wish("Check.", inputs={"order_id": "ORD-7", "n": 3})),
        ('Note n="a b" x=true y=[1,2] z=007', Wish(
            "Note", inputs={"n": "a b", "x": True, "y": [1, 2], "z": "007"}
        )),
        ("Big x=NaN y=1e3 z=1e999", Wish("Big", inputs={"x": "NaN", "y": 1000.0, "z": "1e999"})),
        ("Answer: it is late", Wish("Answer: it is late")),
        ("@anna Refund it", Wish("Refund it", whom="anna", is_name=True)),
        ("for billing: Refund it", Wish("Refund it", whom="billing")),
        ("for example: Refund it", Wish("for example: Refund it")),
        ("for @anna: Refund it", Wish("Refund it", whom="anna", is_name=True)),
        ("mail bob@example.org at once", Wish("mail bob@example.org at once")),
        ("[Urgent] Refund it", Wish("Refund it", priority="urgent")),
        ("Refund it after 1", Wish("Refund it", after=(1,))),
        ("Refund it (after #1, 2 and 3)", Wish("Refund it", after=(1, 2, 3))),
        ("Refund it after 1 within 5m.", Wish("Refund it", after=(1,), timeout_s=300)),
        ("Refund it within 1.5 hours, after 2", Wish("Refund it", after=(2,), timeout_s=5400)),
        ("Look what came after 5 days", Wish("Look what came after 5 days")),
        ("then refund it", Wish("refund it", follows=True)),
        ("Thenard is a name", Wish("Thenard is a name")),
        ("Look skill:support.look@1.0.0", Wish("Look", skills=("support.look@1.0.0",))),
        ("skill://a.b skill:c", Wish("Use a.b, c", skills=("a.b", "c"))),
        ("workflow:order-return id=1", Wish(
            "Run the workflow order-return", workflow="order-return", inputs={"id": 1}
        )),
        ('Pay workflow:"flows/my flow.json"', Wish("Pay", workflow="flows/my flow.json")),
    ],
)  # fmt: skip
def test_a_line_says_what_to_do_with_what_by_whom_and_when(line: str, wish: Wish) -> None:
    assert read_line(line) == wish


@pytest.mark.parametrize(
    ("text", "question", "do", "rule"),
    [
        ("What is going on?", False, "status", "status"),
        ("status", True, "status", "status"),
        ("cancel 2", False, "cancel", "cancel"),
        ("stop everything!", False, "cancel", "cancel"),
        ("cancel the order of Anna", False, "task", "whole-message"),
        ("retry", False, "retry", "retry"),
        ("try again", False, "retry", "retry"),
        ("retry 2 order_id=3", False, "retry", "retry"),
        ("drop it", True, "drop", "drop"),
        ("skip 3", False, "drop", "drop"),
        ("yes please", True, "accept", "yes"),
        ("No, thanks.", True, "drop", "no"),
        ("no", False, "talk", "nothing-was-asked"),
        ("yes 2", True, "accept", "yes"),
        ('2: order_id=7, n="a b" skill:x', True, "accept", "what-was-missing"),
        ("order_id=7 @anna", True, "accept", "what-was-missing"),
        ("order_id=7", False, "task", "whole-message"),
        ("Thank you!", False, "talk", "thanks"),
        ("help", False, "help", "help"),
        ("Say hello to the customer", False, "task", "whole-message"),
        ("1) a\n2) b", False, "task", "list"),
        ("task: count the boxes", True, "task", "list"),
    ],
)
def test_a_message_is_a_command_an_answer_or_tasks(
    text: str, question: bool, do: str, rule: str
) -> None:
    if text == "order_id=7" and not question:
        # Inputs alone are no task.
        with pytest.raises(BadRequest, match="empty"):
            heard(text)
        return
    found = heard(text, has_question=question)
    assert (found.do, [one.rule for one in found.fired]) == (do, [rule])


def test_the_lines_of_a_list_are_tasks_and_what_stands_around_is_none() -> None:
    found = heard("Please do:\n 1. Open\n    the door\n* go in x=1\nThanks\n- sit after 1")
    assert [one.text for one in found.wishes] == ["Open the door", "go in", "sit"]
    assert [one.label for one in found.wishes] == ["1", None, None]
    assert found.wishes[2] == replace(Wish("sit"), after=(1,))
    assert found.fired[0].why == "1 by `numbered`, 2 by `bullet`"


@pytest.mark.parametrize("text", ["", " \n ", "- [urgent]", "x" * 65_537])
def test_a_message_without_a_task_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        heard(text)


@pytest.mark.parametrize(
    "text",
    [
        " " * 60_000 + "x",
        "a_" * 30_000,
        "x=" * 30_000,
        "(" * 30_000 + " " * 30_000,
        "after 1 " * 8_000,
        "a=b" * 20_000 + " c",
        ", " * 30_000 + "within",
        "@" * 60_000,
        'x="' * 20_000,
    ],
)
def test_long_texts_of_anybody_are_read_in_time(text: str) -> None:
    assert len(heard(f"do {text}", has_question=True).wishes) <= 1
