"""Settling: a task is over, and its companion free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from control_plane import JSON
from dcf.sessions.draft import Draft
from dcf.sessions.task import DONE, SessionTask

Ended = Literal["succeeded", "failed", "partial", "cancelled"]

SUMMARY_LIMIT = 500
"""Characters of a summary in the session; the result stands in the run."""


@dataclass(frozen=True, slots=True)
class Settled:
    """How a task ended. Times are ms."""

    status: Ended
    summary: str | None = None
    code: str | None = None
    message: str | None = None
    started_at: int | None = None
    finished_at: int | None = None
    selection: dict[str, JSON] | None = None
    metrics: dict[str, JSON] | None = None

    @classmethod
    def failed(cls, code: str, message: str) -> Settled:
        return cls("failed", code=code, message=message)


def close(draft: Draft, task: SessionTask, settled: Settled) -> SessionTask:
    """Write how ``task`` ended; one that is over already stays as it is. Its companion is free, and
    a broadcast that this decides is over too."""
    current = draft.tasks.get(task.task_id)
    if current is None or not current.is_open:
        return current or task
    error = None
    if settled.code is not None:
        error = {"code": settled.code, "message": (settled.message or "")[:SUMMARY_LIMIT]}
    closed = draft.put(
        replace(
            current,
            status=settled.status,
            summary=settled.summary[:SUMMARY_LIMIT] if settled.summary else None,
            error=error,
            started_at=settled.started_at,
            finished_at=settled.finished_at or draft.now,
            selection=settled.selection,
            metrics=settled.metrics,
            document=None,
        )
    )
    _free(draft, closed)
    if closed.kind != "group":
        draft.count(**{settled.status: 1})
    draft.tell(
        "TaskSettled",
        task_id=task.task_id,
        status=settled.status,
        companion_id=closed.companion_id,
        summary=closed.summary,
        error=error,
    )
    if closed.group is not None and closed.group in draft.tasks:
        _decide(draft, draft.tasks[closed.group])
    return closed


def take_away(
    draft: Draft, task: SessionTask, why: str, *, to: str | None = None, lost: bool = False
) -> SessionTask:
    """The task waits again, for ``to`` if one is named. It keeps its run: who gets it next goes on
    in its place, and who had it can no longer report."""
    attempts = task.attempts
    if attempts and attempts[-1].why is None:
        attempts = (*attempts[:-1], replace(attempts[-1], why=why, lost=lost))
    _free(draft, task)
    draft.tell("TaskTakenAway", task_id=task.task_id, companion_id=task.companion_id, why=why)
    return draft.put(
        replace(task, status="queued", companion_id=None, wanted=to, attempts=attempts)
    )


def _free(draft: Draft, task: SessionTask) -> None:
    """Its companion has no task any more."""
    companion = draft.companions.get(task.companion_id or "")
    if companion is None or companion.task_id != task.task_id:
        return
    status = "idle" if companion.status == "busy" else companion.status
    draft.seat(
        replace(
            companion,
            status=status,
            task_id=None,
            idle_since=draft.now,
            succeeded=companion.succeeded + (task.status in DONE),
            failed=companion.failed + (task.status == "failed"),
        )
    )


def _decide(draft: Draft, group: SessionTask) -> None:
    """End a broadcast when enough are done, or can no longer be. Those that are still open are left
    to be cancelled by the tick."""
    if not group.is_open:
        return
    children = [draft.tasks[child] for child in group.children if child in draft.tasks]
    done = sum(child.status in DONE for child in children)
    still = sum(child.is_open for child in children)
    if done >= group.need:
        summary = f"{done} of {len(group.children)} are done, {group.need} were needed"
        close(draft, group, Settled("succeeded", summary=summary))
    elif group.cancelled_by is not None:
        if still:
            return
        close(draft, group, Settled("cancelled", code="cancelled", message=group.reason))
    elif done + still < group.need:
        failed = len(group.children) - done - still
        message = f"{failed} of {len(group.children)} failed, {group.need} were needed"
        ended: Ended = "partial" if done else "failed"
        close(draft, group, Settled(ended, code="quorum_missed", message=message))
    else:
        return
    for child in children:
        if child.is_open and child.cancelled_by is None:
            draft.put(replace(child, cancelled_by="dcf", reason="the broadcast is decided"))
