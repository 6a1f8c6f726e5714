"""The tick of a session: what its runs, its clock and its seats say is written into it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from control_plane import (
    ControlPlaneError,
    Disconnected,
    OutboxFull,
    RunDocument,
    ServerError,
    claims,
    keys,
)
from dcf.sessions import staffing
from dcf.sessions.draft import Draft
from dcf.sessions.errors import SessionProblem
from dcf.sessions.seat import GRACE_MS
from dcf.sessions.session import Session
from dcf.sessions.settling import Settled, close
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import is_of, missed, outcome_of
from dcf.skills import SkillError
from dcf.workflow import WorkflowError

if TYPE_CHECKING:
    from dcf.sessions.sessions import Sessions

log = logging.getLogger(__name__)

LOOK_MS = 10_000
"""A session in which something is open is looked at again after this long, in ms."""
_SHORT_LOOK_MS = 1_000
# Its own timer ends the run of a task at the deadline; this is for when that was lost.
_LATE_MS = 2_000


async def tick(sessions: Sessions, session_id: str) -> Session:
    """See ``Sessions.tick``. Raises UnknownSession."""
    before = await sessions.get(session_id)
    now, ends = await sessions.seated(tuple(before.companions), session_id)
    settled = await _ended(sessions, before, now)
    lost = {
        one.companion_id: f"nobody serves {one.companion_id} any more"
        for one in before.companions.values()
        if one.status in ("idle", "busy", "error")
        and one.seated_at is not None
        and ends.get(one.companion_id, one.seated_at) + GRACE_MS < now
    }
    told = await _tell(sessions, before)

    def step(draft: Draft) -> None:
        for task_id, outcome in settled.items():
            task = draft.tasks.get(task_id)
            # Since it was looked at, it may have gone to somebody else.
            if task is not None and _is_same(task, before.tasks[task_id]):
                close(draft, task, outcome)
        for companion_id, why in lost.items():
            # Somebody may have taken the seat since.
            if companion_id in draft.companions and companion_id not in draft.seated:
                staffing.lose(draft, companion_id, why)
        _mark_told(draft, before, told)

    _, after = await sessions.change(session_id, step)
    for task in after.open_tasks:
        if task.status == "assigned":
            await sessions.start(session_id, task)
    for companion in after.companions.values():
        if companion.seated_at is None and companion.companion_id not in ends:
            await sessions.offer_seat(session_id, companion)
    await _look_later(sessions, after, now)
    return after


async def settle(sessions: Sessions, session_id: str, task_id: str) -> Session | None:
    """Write how one task ended, if its run is over; what waits is given away. The quick way, for
    who ended the run."""
    before = await sessions.get(session_id)
    task = before.tasks.get(task_id)
    if task is None or not task.is_open:
        return None
    runs = await sessions.store.run_many([task_id])
    if not runs or not runs[0].is_over or not is_of(runs[0], session_id):
        return None
    outcome = await outcome_of(sessions.store, task, runs[0], why_it_waits(before, task))
    _, after = await sessions.change(
        session_id, lambda draft: close(draft, draft.tasks.get(task_id, task), outcome)
    )
    return after


async def _ended(sessions: Sessions, session: Session, now: int) -> dict[str, Settled]:
    """How tasks ended that are still open in the session."""
    open_tasks = [task for task in session.open_tasks if task.kind != "group"]
    begun = [task.task_id for task in open_tasks if task.first_at is not None]
    found_runs = await sessions.store.run_many(begun) if begun else []
    runs = {run.workflow_id: run for run in found_runs if is_of(run, session.session_id)}
    found = {}
    for task in open_tasks:
        run = runs.get(task.task_id)
        late = now > task.deadline_at + (_LATE_MS if run is not None else 0)
        if run is not None and run.is_over:
            found[task.task_id] = await outcome_of(
                sessions.store, task, run, why_it_waits(session, task)
            )
        elif task.cancelled_by is not None:
            found[task.task_id] = await _cancel(sessions, session, task)
        elif late:
            found[task.task_id] = await _miss(sessions, session, task)
        elif run is None and task.status == "assigned":
            refused = await _refused(sessions, session, task)
            if refused is not None:
                found[task.task_id] = refused
    return found


async def _refused(sessions: Sessions, session: Session, task: SessionTask) -> Settled | None:
    """Start a task whose run is missing; how it ended when that can never be."""
    try:
        await sessions.start(session.session_id, task)
    except (Disconnected, ServerError):
        # Redis may be back in a moment, or have finished loading: nothing is known of the task.
        raise
    except (WorkflowError, ControlPlaneError, SessionProblem, SkillError) as error:
        return Settled.failed("cannot_start", str(error))
    return None


async def _cancel(sessions: Sessions, session: Session, task: SessionTask) -> Settled:
    """End the run of a task that is cancelled; how the task ended."""
    reason = task.reason or f"cancelled by {task.cancelled_by}"
    run = await _stop(sessions, session, task, by=task.cancelled_by or "dcf", reason=reason)
    if run is not None and run.status != "cancelled":
        return await outcome_of(sessions.store, task, run, why_it_waits(session, task))
    if task.verdict is not None:
        return Settled.failed(**task.verdict)
    return Settled("cancelled", code="cancelled", message=reason)


async def _miss(sessions: Sessions, session: Session, task: SessionTask) -> Settled:
    """End a task that missed its deadline."""
    why = why_it_waits(session, task)
    run = await _stop(sessions, session, task, by="dcf", reason=f"deadline passed: {why}")
    if run is not None and run.status in ("succeeded", "failed", "timed_out"):
        return await outcome_of(sessions.store, task, run, why)
    return missed(task, why)


async def _stop(
    sessions: Sessions, session: Session, task: SessionTask, *, by: str, reason: str
) -> RunDocument | None:
    """End the run of a task that may have one, or may get one from somebody who is slow: then it is
    made, and ended, so that nobody can begin it any more."""
    if task.first_at is None:
        return None
    await sessions.submit(session.session_id, task, sessions.store)
    await sessions.store.cancel(task.task_id, by=by, reason=reason)
    return await sessions.store.run(task.task_id)


def why_it_waits(session: Session, task: SessionTask) -> str:
    """Why a task is not done yet, in words."""
    if task.status == "assigned":
        return f"{task.companion_id or 'workers'} has not finished it"
    waits = [
        other for other in task.after if other in session.tasks and session.tasks[other].is_open
    ]
    if waits:
        return f"it waits for {', '.join(waits)}"
    if session.state == "paused":
        return "the session is paused"
    return f"no companion is free for it{_who(session, task)}"


def _who(session: Session, task: SessionTask) -> str:
    wanted = task.wanted or task.specialization
    there = [
        one
        for one in session.companions.values()
        if wanted in (None, one.companion_id, one.specialization)
    ]
    said = ", ".join(
        f"{one.companion_id} {'not served yet' if one.seated_at is None else one.status}"
        for one in there[:5]
    )
    return f" ({said})" if said else f" (there is none{f' for {wanted}' if wanted else ''})"


def _is_same(task: SessionTask, seen: SessionTask) -> bool:
    """Whether what was found out about the task as it was seen holds for it now. Its run is the
    same whoever has it; only a deadline that was missed while it waited must be looked at anew."""
    return task.is_open and task.delegated_at == seen.delegated_at


async def _tell(sessions: Sessions, session: Session) -> list[str]:
    """Tell the graph what ended, and it does not know yet; which tasks. ``""`` is the session."""
    told: list[str] = []
    try:
        for task in _untold(session):
            await sessions.facts.task(session, task)
            told.append(task.task_id)
        if session.head.told != session.state:
            await sessions.facts.session(session)
            told.append("")
    except OutboxFull as full:
        log.warning("session %s: %s; told later", session.session_id, full)
    return told


def _untold(session: Session) -> list[SessionTask]:
    return [task for task in session.tasks.values() if not task.is_open and not task.told]


def _mark_told(draft: Draft, before: Session, told: list[str]) -> None:
    for task_id in told:
        if task_id == "":
            draft.head = replace(draft.head, told=before.state)
        elif task_id in draft.tasks:
            draft.put(replace(draft.tasks[task_id], told=True))


async def _look_later(sessions: Sessions, session: Session, now: int) -> None:
    """When somebody shall look again; never, when all is over and told."""
    untold = session.head.told != session.state or _untold(session)
    if session.is_over and not untold:
        await claims.drop(sessions.backend, keys.SESSIONS_DUE, [session.session_id])
        return
    at = now + LOOK_MS
    if untold or any(task.kind == "workflow" for task in session.open_tasks):
        at = now + _SHORT_LOOK_MS
    waiting = [task.deadline_at for task in session.open_tasks if task.kind != "group"]
    at = max(min([at, *waiting]), now + 100)
    # Who claimed the session pushed it ahead; who asked for a sooner look gets it.
    await claims.sooner(sessions.backend, keys.SESSIONS_DUE, session.session_id, at)
