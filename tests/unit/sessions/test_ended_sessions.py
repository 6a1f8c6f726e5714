"""What a session that is over leaves to be known, by rule and without its texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dcf.sessions import Session, SessionTask
from dcf.sessions.companions.ended_sessions import MOST, observations_of_session
from dcf.sessions.session import Context, Head
from dcf.sessions.task import Attempt

CUSTOMER = "customer 4711 of Kassel"
SESSION = Session(
    "s1", 1, 1, Head(CUSTOMER, ("me",), 1, "completed", ended_at=9), Context(), {}, {}, {}
)
MINUTE = 60_000


def task(task_id: str = "t", **said: Any) -> SessionTask:
    known = SessionTask(task_id, "refund", f"Help {CUSTOMER}", "me", 0, MINUTE, finished_at=MINUTE)
    return replace(known, **said)


def lost(who: str) -> Attempt:
    return Attempt("companion-a", 1, why=f"{CUSTOMER} waits", specialization=who)


def titles(*tasks: SessionTask, harmful: tuple[str, ...] = ()) -> list[str]:
    found = observations_of_session(SESSION, tasks, harmful, "/shop")
    for one in found:
        assert CUSTOMER not in repr(replace(one, note="")), "no agent is told what it was about"
        assert (one.project, one.workflow) == ("/shop", "task:refund")
    return [one.title for one in found]


LATE = {"code": "deadline_passed", "message": f"{CUSTOMER} is angry"}


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            {"status": "failed", "error": LATE},
            "refund: no companion ever had it (deadline_passed)",
        ),
        ({"status": "cancelled"}, "refund: given up, no companion ever had it"),
        (
            {"status": "cancelled", "attempts": (lost("billing"), lost("refunds, or so"))},
            "refund: given up after refunds-or-so had not done it",
        ),
        # Taken back soon, done, failed with somebody (its run says so), not begun for another task.
        ({"status": "cancelled", "finished_at": MINUTE - 1}, None),
        ({"status": "cancelled", "attempts": (Attempt("companion-a", 1),)}, None),
        ({"status": "succeeded", "attempts": (lost("billing"),)}, None),
        ({"status": "failed", "attempts": (Attempt("companion-a", 1),), "error": LATE}, None),
        ({"status": "failed", "error": {"code": "dependency_failed", "message": ""}}, None),
        ({"status": "cancelled", "kind": "workflow"}, None),
    ],
)
def test_tasks_that_nobody_did(said: dict[str, Any], title: str | None) -> None:
    assert titles(task(**said)) == ([] if title is None else [title])


def test_a_task_says_what_it_was_for_and_people_read_the_rest() -> None:
    never = task(status="failed", error=LATE, specialization="billing", skills=("skill.pay",))
    (one,) = observations_of_session(SESSION, [never], ())
    assert one.facts == ("It was for billing.", "It was to be done with skill.pay.")
    assert f"Help {CUSTOMER}" in one.note and f"{CUSTOMER} is angry" in one.note
    assert str(one.origin.citation) == "dcf://session/s1/task/t"


def test_the_same_is_said_once_and_not_too_much() -> None:
    never = [task(f"t{n}", status="failed", error=LATE) for n in range(9)]
    assert len(titles(*never)) == 1
    errors = [{"code": f"Late.{'x' * n}", "message": ""} for n in range(9)]
    several = [task(f"t{n}", status="failed", error=error) for n, error in enumerate(errors)]
    assert len(titles(*several)) == MOST


def test_a_guideline_that_did_harm_is_told_by_the_names_of_what_it_was_about() -> None:
    done = task(status="succeeded", skills=("skill.pay", "skill.ask"))
    text = (
        f"refund goes best with skill.pay by {CUSTOMER} (followed, it went 40% worse than before)"
    )
    assert titles(done, harmful=(text,)) == ["refund: a guideline made it worse and was withdrawn"]
    (one,) = observations_of_session(SESSION, [done], [text])
    assert (one.facts, one.note) == (("It named skill.pay.",), text)
    assert titles(done, harmful=("Hire two companions (nothing)",)) == []
