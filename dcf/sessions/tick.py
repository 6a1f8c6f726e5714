"""The tick of a session: what its runs, its clock and its seats say is written into it."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from control_plane import OutboxFull, claims, keys
from dcf.sessions import staffing
from dcf.sessions.draft import Draft
from dcf.sessions.ending import found_ended, why_it_waits
from dcf.sessions.seat import GRACE_MS
from dcf.sessions.session import Session
from dcf.sessions.settling import close
from dcf.sessions.task import SessionTask
from dcf.sessions.task_run import is_of, outcome_of

if TYPE_CHECKING:
    from dcf.sessions.sessions import Sessions

log = logging.getLogger(__name__)

LOOK_MS = 10_000
"""A session in which something is open is looked at again after this long, in ms."""
_SHORT_LOOK_MS = 1_000


async def tick(sessions: Sessions, session_id: str) -> Session:
    """See ``Sessions.tick``. Raises UnknownSession."""
    before = await sessions.get(session_id)
    now, ends = await sessions.seated(tuple(before.companions), session_id)
    settled = await found_ended(sessions, before, now)
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

    _, after = await sessions.change(session_id, step, ends=True)
    for task in after.open_tasks:
        if task.status == "assigned":
            await sessions.try_start(session_id, task)
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
    why = why_it_waits(before, task)
    outcome = await outcome_of(sessions.store, session_id, task, runs[0], why)
    _, after = await sessions.change(
        session_id, lambda draft: close(draft, draft.tasks.get(task_id, task), outcome), ends=True
    )
    return after


def _is_same(task: SessionTask, seen: SessionTask) -> bool:
    """Whether what was found out about the task as it was seen holds for it now. Its run is the
    same whoever has it; one that had none may have begun since, and is looked at anew."""
    return (
        task.is_open
        and task.delegated_at == seen.delegated_at
        and (task.first_at is None) == (seen.first_at is None)
    )


async def _tell(sessions: Sessions, session: Session) -> list[str]:
    """Tell the graph what ended, and it does not know yet; which tasks. ``""`` is the session."""
    told: list[str] = []
    try:
        for task in _untold(session):
            await sessions.facts.task(session, task)
            told.append(task.task_id)
        if not session.head.is_told:
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
            head = before.head
            draft.head = replace(draft.head, told=head.state, told_employed=head.employed)
        elif task_id in draft.tasks:
            draft.put(replace(draft.tasks[task_id], told=True))


async def _look_later(sessions: Sessions, session: Session, now: int) -> None:
    """When somebody shall look again; never, when all is over and told."""
    untold = not session.head.is_told or _untold(session)
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
