"""Assigning: which idle companion does which of the tasks that wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcf.sessions.circles import those_who_wait
from dcf.sessions.companion import Companion
from dcf.sessions.draft import Draft
from dcf.sessions.settling import Settled, close
from dcf.sessions.task import CLOSED, DONE, Attempt, SessionTask


def assign(draft: Draft) -> list[SessionTask]:
    """Give tasks that wait to companions that are idle and served; tasks for workers need none.
    What waits for a task that failed fails too. A session that ends does what it took; what missed
    its deadline is begun no more. The tasks that were given away."""
    if draft.head.state == "completing":
        _fail_those_nobody_can_do(draft)
    _fail_dependents(draft)
    if draft.head.state not in ("active", "completing"):
        return []
    given = []
    idle = {
        one.companion_id: one
        for one in draft.companions.values()
        if one.status == "idle" and one.companion_id in draft.seated
    }
    waiting = [
        task
        for task in draft.tasks.values()
        if task.status == "queued" and task.cancelled_by is None
    ]
    for task in sorted(waiting, key=lambda one: one.rank):
        if task.kind == "group" or draft.now > task.deadline_at or not _is_due(draft, task):
            continue
        if task.kind == "workflow":
            given.append(_give(draft, task, None))
            continue
        chosen = _choose(draft, task, idle)
        if chosen is not None:
            del idle[chosen.companion_id]
            given.append(_give(draft, task, chosen))
    return given


def is_suitable(companion: Companion, wanted: str | None, specialization: str | None) -> bool:
    """Whether the companion may do a task that wants this one, or this specialization."""
    if wanted is not None:
        return companion.companion_id == wanted
    return specialization is None or companion.specialization == specialization


def _choose(draft: Draft, task: SessionTask, idle: Mapping[str, Companion]) -> Companion | None:
    """Another than had it last, then the one made for most of the task's skills, then the one that
    is idle for longest; none that waits for it, unless it must be that one."""
    fitting = [one for one in idle.values() if is_suitable(one, task.wanted, task.specialization)]
    if task.wanted is None:
        waiting = those_who_wait(draft, task.by)
        fitting = [one for one in fitting if one.companion_id not in waiting]
    if not fitting:
        return None
    last = task.attempts[-1].companion_id if task.attempts else None
    return min(
        fitting,
        key=lambda one: (
            one.companion_id == last,
            -len(set(one.skills) & set(task.skills)),
            one.idle_since or 0,
            one.companion_id,
        ),
    )


def _give(draft: Draft, task: SessionTask, companion: Companion | None) -> SessionTask:
    if companion is not None:
        draft.seat(replace(companion, status="busy", task_id=task.task_id, idle_since=None))
        attempt = Attempt(
            companion.companion_id, draft.now, specialization=companion.specialization
        )
        attempts = (*task.attempts, attempt)
    else:
        attempts = task.attempts
    first = task.first_at if task.first_at is not None else draft.now
    if task.first_at is None and companion is not None:
        # What it runs with is settled now: another companion goes on with the same run.
        task = replace(
            task, model=task.model or companion.model, tier=_tier(task.tier, companion.tier)
        )
    companion_id = companion.companion_id if companion else None
    draft.tell("TaskAssigned", task_id=task.task_id, companion_id=companion_id)
    return draft.put(
        replace(
            task, status="assigned", companion_id=companion_id, first_at=first, attempts=attempts
        )
    )


def _tier(*tiers: int | None) -> int | None:
    known = [tier for tier in tiers if tier is not None]
    return max(known) if known else None


def _is_due(draft: Draft, task: SessionTask) -> bool:
    return all(
        other not in draft.tasks or draft.tasks[other].status in DONE for other in task.after
    )


def _fail_those_nobody_can_do(draft: Draft) -> None:
    """In a session that ends nobody can be employed any more."""
    for task in [one for one in draft.tasks.values() if one.status == "queued"]:
        # One that was begun has a run, which its deadline ends.
        if task.kind != "companion" or task.cancelled_by is not None or task.first_at is not None:
            continue
        there = draft.companions.values()
        if not any(is_suitable(one, task.wanted, task.specialization) for one in there):
            who = task.wanted or task.specialization or "it"
            message = f"the session ends, and there is no companion for {who}"
            close(draft, task, Settled.failed("no_companion", message))


def _fail_dependents(draft: Draft) -> None:
    """Until nothing changes: what depends on those that fail here fails too."""
    again = True
    while again:
        again = False
        for task in [one for one in draft.tasks.values() if one.status == "queued"]:
            broken = [
                found
                for other in task.after
                if (found := draft.find(other)) is not None
                and found.status in CLOSED
                and found.status not in DONE
            ]
            if broken:
                names = ", ".join(f"{one.task_id} ({one.status})" for one in broken)
                message = f"it was to follow {names}"
                close(draft, task, Settled.failed("dependency_failed", message))
                again = True
