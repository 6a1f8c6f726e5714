"""How tasks end: what their runs say, their deadlines, and those who cancel them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from control_plane import Disconnected, RunDocument, ServerError
from dcf.sessions.circles import those_who_wait
from dcf.sessions.errors import TaskIdTaken
from dcf.sessions.running import CANNOT
from dcf.sessions.session import Session
from dcf.sessions.settling import Settled
from dcf.sessions.task import ID_TAKEN, SessionTask
from dcf.sessions.task_run import is_of, missed, outcome_of, whose_run

if TYPE_CHECKING:
    from dcf.sessions.sessions import Sessions

log = logging.getLogger(__name__)

# Its own timer ends the run of a task at the deadline; this is for when that was lost.
_LATE_MS = 2_000


async def found_ended(sessions: Sessions, session: Session, now: int) -> dict[str, Settled]:
    """How tasks ended that are still open in the session. One of which nothing can be found out
    keeps no other from its end. Raises Disconnected."""
    open_tasks = [task for task in session.open_tasks if task.kind != "group"]
    begun = [task.task_id for task in open_tasks if task.first_at is not None]
    found_runs = await sessions.store.run_many(begun) if begun else []
    runs = {run.workflow_id: run for run in found_runs}
    found = {}
    for task in open_tasks:
        try:
            outcome = await _outcome(sessions, session, task, runs.get(task.task_id), now)
        except Disconnected:
            # Redis may be back in a moment: nothing is known of any task.
            raise
        except TaskIdTaken as taken:
            outcome = Settled.failed(ID_TAKEN, str(taken))
        except ServerError as error:
            log.warning("task %s is looked at later: %s", task.task_id, error)
            continue
        except CANNOT as error:
            outcome = Settled.failed("cannot_start", str(error))
        if outcome is not None:
            found[task.task_id] = outcome
    return found


async def _outcome(
    sessions: Sessions, session: Session, task: SessionTask, run: RunDocument | None, now: int
) -> Settled | None:
    """How one task ended; None when it did not. Raises TaskIdTaken, and what says that it can never
    be run."""
    if run is not None and not is_of(run, session.session_id):
        raise TaskIdTaken(task_id=task.task_id, whose=whose_run(run))
    if run is not None and run.is_over:
        return await _end_of(sessions, session, task, run)
    if task.cancelled_by is not None:
        return await _cancel(sessions, session, task)
    if now > task.deadline_at + (_LATE_MS if run is not None else 0):
        return await _miss(sessions, session, task)
    if run is None and task.status == "assigned":
        await sessions.start(session.session_id, task)
    return None


async def _end_of(
    sessions: Sessions, session: Session, task: SessionTask, run: RunDocument
) -> Settled:
    why = why_it_waits(session, task)
    return await outcome_of(sessions.store, session.session_id, task, run, why)


async def _cancel(sessions: Sessions, session: Session, task: SessionTask) -> Settled:
    """End the run of a task that is cancelled; how the task ended."""
    reason = task.reason or f"cancelled by {task.cancelled_by}"
    run = await _stop(sessions, session, task, by=task.cancelled_by or "dcf", reason=reason)
    if run is not None and run.status != "cancelled":
        return await _end_of(sessions, session, task, run)
    if task.verdict is not None:
        return Settled.failed(**task.verdict)
    return Settled("cancelled", code="cancelled", message=reason)


async def _miss(sessions: Sessions, session: Session, task: SessionTask) -> Settled:
    """End a task that missed its deadline."""
    why = why_it_waits(session, task)
    run = await _stop(sessions, session, task, by="dcf", reason=f"deadline passed: {why}")
    if run is not None and run.status in ("succeeded", "failed", "timed_out"):
        return await _end_of(sessions, session, task, run)
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
    waiting = those_who_wait(session, task.by)
    there = [
        one
        for one in session.companions.values()
        if wanted in (None, one.companion_id, one.specialization)
        and (task.wanted is not None or one.companion_id not in waiting)
    ]
    said = ", ".join(
        f"{one.companion_id} {'not served yet' if one.seated_at is None else one.status}"
        for one in there[:5]
    )
    return f" ({said})" if said else f" (there is none{f' for {wanted}' if wanted else ''})"
