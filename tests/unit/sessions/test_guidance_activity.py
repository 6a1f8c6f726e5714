"""What happened in a session, as agents read it and as the Strategist counts it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.sessions.test_sessions_rendering import done, session, task

from dcf.advisors.strategist import StrategistGuidelines, StrategistRules, analyse
from dcf.sessions import GRACE_MS, SEAT_MS, Attempt, Companion, Session, SessionTask
from dcf.sessions.guidance import Analysed, SessionActivity, analysis_event

LOOK, FIND = "skill.look@1.0.0", "skill.find@1.0.0"
NOW = 100_000
ANN = Companion("companion-ann", "ann", 1_000, "boss", seated_at=1_000)


def activity(*tasks: SessionTask, **fields: Any) -> SessionActivity:
    made: Session = session(*tasks, **fields)
    return SessionActivity(made, tasks, NOW)


def test_what_is_read_has_the_documented_fields() -> None:
    failed = {"code": "no_key", "message": "locked"}
    found = activity(
        done(1, skills=(LOOK,)),
        done(2, skills=(LOOK, FIND), status="partial"),
        done(3, skills=(LOOK,), status="failed", error=failed),
        done(4, skills=(LOOK,), status="cancelled"),
        task(5, skills=(FIND,), status="assigned", companion_id="companion-ann"),
        companions={"companion-ann": replace(ANN, status="busy", task_id="task-5")},
    ).to_json()
    assert set(found) == {
        "session_id", "revision", "session_state", "session_context", "delegations", "left_out",
        "companions", "skill_metrics", "metrics",
    }  # fmt: skip
    assert found["skill_metrics"][LOOK] == {
        "usage_count": 4,
        "success_count": 1,
        "failure_count": 1,
        "partial_count": 1,
        "cancelled_count": 1,
        "pending_count": 0,
        "avg_duration_s": 2.0,
        "success_rate": 33.3,
        "failure_modes": [{"mode": "no_key", "count": 1}],
    }
    assert found["metrics"] == {
        "companion_count": 1,
        "idle_companions": 0,
        "busy_companions": 1,
        "error_companions": 0,
        "total_delegations": 5,
        "completed_tasks": 1,
        "failed_tasks": 1,
        "partial_tasks": 1,
        "cancelled_tasks": 1,
        "pending_tasks": 1,
        "success_rate": 33.3,
        "avg_task_duration_s": 2.0,
        "unique_skills_used": 2,
        "top_skills": [LOOK, FIND],
    }
    [companion] = found["companions"]
    history = companion.pop("task_history")
    assert [one["task_id"] for one in history] == ["task-1", "task-2", "task-3", "task-4"]
    assert companion == {
        "companion_id": "companion-ann",
        "companion_name": "ann",
        "specialization": "generalist",
        "status": "busy",
        "current_task": "task-5",
        "tasks_completed": 1,
        "tasks_failed": 1,
        "tasks_partial": 1,
        "skills_used": [FIND, LOOK],
        "loaded_skills": [FIND],
    }


def test_only_the_last_are_told_and_all_are_counted() -> None:
    found = activity(*(done(number) for number in range(80))).to_json()
    assert (len(found["delegations"]), found["left_out"]) == (50, 30)
    assert found["delegations"][-1]["task_id"] == "task-79"
    [companion] = found["companions"]
    assert len(companion["task_history"]) == 20
    assert companion["tasks_completed"] == found["metrics"]["completed_tasks"] == 80


@pytest.mark.parametrize(
    ("companion", "status"),
    [
        (replace(ANN, created_at=NOW - 1, seated_at=None), "idle"),
        (replace(ANN, created_at=NOW - SEAT_MS - GRACE_MS - 1, seated_at=None), "lost"),
        (replace(ANN, status="busy"), "busy"),
        (replace(ANN, status="error"), "error"),
        (replace(ANN, status="lost"), "lost"),
    ],
    ids=["coming", "nobody came", "busy", "error", "lost"],
)
def test_who_can_work(companion: Companion, status: str) -> None:
    [counted] = activity(companions={"companion-ann": companion}).counted.companions
    assert counted.status == status


def test_who_is_leaving_is_not_there() -> None:
    leaving = replace(ANN, status="dismissing")
    assert activity(companions={"companion-ann": leaving}).counted.companions == ()


def test_the_pool_changes_when_somebody_leaves_or_is_served() -> None:
    gone = replace(ANN, companion_id="companion-bob", dismissed_at=70_000)
    there = {"companion-ann": replace(ANN, seated_at=50_000)}
    assert activity(companions=there).counted.pool_since == 50_000
    former = {"companion-bob": gone}
    assert activity(companions=there, former=former).counted.pool_since == 70_000
    assert activity(companions={}).counted.pool_since is None


def test_what_is_being_done_began_when_it_was_given() -> None:
    attempts = (Attempt("companion-bob", 2_000, lost=True), Attempt("companion-ann", 9_000))
    running = task(1, status="assigned", companion_id="companion-ann", attempts=attempts)
    waiting = task(2)
    [first, second] = activity(running, waiting).counted.tasks
    assert (first.started_at, first.assigned_at, first.attempts) == (9_000, 9_000, 2)
    assert first.wait_ms == 8_000
    assert (second.started_at, second.assigned_at, second.attempts) == (None, None, 1)


def test_what_a_companion_reports_of_itself_is_taken_where_it_is_a_number() -> None:
    good = {"estimated_cost_usd": 0.5, "total_tokens": 70, "tier_escalated": True, "model": "m"}
    bad: dict[str, Any] = {
        "estimated_cost_usd": "much", "total_tokens": -1, "tier_escalated": "yes", "model": 4
    }  # fmt: skip
    chosen: dict[str, Any] = {"tier": 2, "fcs": 21.0}
    odd: dict[str, Any] = {"tier": 9, "fcs": float("nan")}
    [first, second] = activity(
        done(1, metrics=good, selection=chosen), done(2, metrics=bad, selection=odd, tier=1)
    ).counted.tasks
    assert (first.cost, first.tokens, first.escalated, first.model) == (0.5, 70, True, "m")
    assert (first.tier, first.fcs) == (2, 21.0)
    assert (second.cost, second.tokens, second.escalated, second.model) == (None, None, False, None)
    assert (second.tier, second.fcs) == (1, None)


def test_the_event_counts_what_is_new_since_the_last_analysis() -> None:
    tasks = [done(number, status="failed", selection={"tier": 1, "fcs": 10.0}) for number in (1, 9)]
    found = activity(*tasks)
    head = replace(found.session.head, analysed=1, analysed_at=5_000)
    counted = replace(head.counts, succeeded=0, failed=2)
    found = replace(found, session=replace(found.session, head=replace(head, counts=counted)))
    event = analysis_event(found, _analysed(found), "boss", "milestone")
    assert (event["tasks_since_last_analysis"], event["recent_failures"]) == (1, 1)
    assert event["amsp_metrics"] == {
        "delegations_analyzed": 2, "tier_distribution": {"1": 2}, "avg_fcs": 10.0
    }  # fmt: skip
    assert "delegations" not in event
    full = analysis_event(found, _analysed(found), "boss", "milestone", full=True)
    assert len(full["delegations"]) == 2


def _analysed(found: SessionActivity) -> Analysed:
    rules = StrategistRules.default()
    guidelines = StrategistGuidelines.new(rules)
    analysis = analyse(found.counted, rules, guidelines.bounds)
    return Analysed(analysis, guidelines, 0, (), (), is_new=True)
