"""A session as the Strategist counts it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from dcf.advisors.strategist import Activity
from dcf.advisors.strategist import Companion as CountedCompanion
from dcf.advisors.strategist import Task as CountedTask
from dcf.sessions.companion import Companion
from dcf.sessions.figures import figures_of, specialization_of
from dcf.sessions.guidance.past import History
from dcf.sessions.seat import GRACE_MS, SEAT_MS
from dcf.sessions.session import Session
from dcf.sessions.task import DONE, SessionTask

CompanionStatus = Literal["idle", "busy", "error", "lost"]

_COMING_MS = SEAT_MS + GRACE_MS
"""So long after it was made a companion that nobody serves yet is taken for one that comes."""


def activity_of(
    session: Session, tasks: Sequence[SessionTask], now: int, history: History
) -> Activity:
    """``tasks`` are all of the session, but for broadcasts, whose children count.

    What waits for other tasks waits for no companion: it is left out until it may begin, and counts
    as delegated then. Companions that nobody serves are lost.
    """
    return Activity(
        session_id=session.session_id,
        conductor_id=session.head.conductors[0],
        now=now,
        tasks=tuple(_counted(session, tasks)),
        companions=tuple(
            _companion(one, now)
            for one in session.companions.values()
            if one.status != "dismissing"
        ),
        pool_since=_pool_since(session),
        skill_history=history.skills,
        companion_history=history.companions,
    )


def _counted(session: Session, tasks: Sequence[SessionTask]) -> Iterator[CountedTask]:
    known = {**session.tasks, **{task.task_id: task for task in tasks}}
    for task in tasks:
        due = _due_at(task, known)
        if due is not None:
            yield _task(session, task, due)


def _due_at(task: SessionTask, known: Mapping[str, SessionTask]) -> int | None:
    """When nothing but a companion was missing; None while something else is."""
    due = task.delegated_at
    for name in task.after:
        other = known.get(name)
        if other is None:
            continue
        if task.status == "queued" and other.status not in DONE:
            return None
        due = max(due, other.finished_at or due)
    # What was ended before it was due, because of another or by hand, was never due.
    return due if task.finished_at is None else min(due, task.finished_at)


def _task(session: Session, task: SessionTask, due: int) -> CountedTask:
    figures = figures_of(task)
    assigned = task.attempts[-1].at if task.attempts and task.companion_id is not None else None
    # A session hears of the beginning when the task ends; it follows the assignment at once.
    started = assigned if task.is_open else task.started_at
    return CountedTask(
        task_id=task.task_id,
        task_type=task.task_type,
        status=task.status,
        delegated_at=due,
        skills=task.skills,
        companion_id=task.companion_id,
        specialization=specialization_of(session, task),
        priority=task.priority,
        assigned_at=assigned,
        started_at=started,
        finished_at=task.finished_at,
        attempts=max(1, len(task.attempts)),
        error_code=(task.error or {}).get("code"),
        tier=figures.tier,
        model=figures.model,
        escalated=figures.escalated,
        cost=figures.cost_usd,
        tokens=figures.tokens,
        fcs=figures.fcs,
    )


def _companion(one: Companion, now: int) -> CountedCompanion:
    is_coming = now - one.created_at <= _COMING_MS
    status: CompanionStatus = "lost"
    if one.status != "dismissing" and (one.seated_at is not None or is_coming):
        status = one.status
    return CountedCompanion(
        companion_id=one.companion_id,
        name=one.name,
        created_at=one.created_at,
        status=status,
        specialization=one.specialization,
        idle_since=one.idle_since,
        skills=one.skills,
    )


def _pool_since(session: Session) -> int | None:
    """When a companion last left or began to be served."""
    times = [one.dismissed_at for one in session.former.values()]
    times += [one.seated_at for one in session.companions.values()]
    known = [at for at in times if at is not None]
    return max(known) if known else None
