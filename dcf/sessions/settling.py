"""Settling: a task is over, and its companion free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from control_plane import JSON
from dcf.sessions.draft import Draft
from dcf.sessions.task import DONE, SessionTask

Ended = Literal["succeeded", "failed", "partial", "cancelled"]

SUMMARY_LIMIT = 500
"""Characters of a summary in the session; the result stands in the run."""
DESCRIPTION_KEPT = 2_000
"""Characters of the description of a task that is over."""
_NAME_LIMIT = 200
_FIGURES = 40


@dataclass(frozen=True, slots=True)
class Settled:
    """How a task ended. Times are ms. ``companion_id`` is who did it, where that is known."""

    status: Ended
    summary: str | None = None
    code: str | None = None
    message: str | None = None
    started_at: int | None = None
    finished_at: int | None = None
    selection: dict[str, JSON] | None = None
    metrics: dict[str, JSON] | None = None
    companion_id: str | None = None

    @classmethod
    def failed(cls, code: str, message: str) -> Settled:
        return cls("failed", code=code, message=message)


def close(draft: Draft, task: SessionTask, settled: Settled) -> SessionTask:
    """Write how ``task`` ended; one that is over already stays as it is. Its companion is free, and
    a broadcast that this decides is over too."""
    current = draft.tasks.get(task.task_id)
    if current is None or not current.is_open:
        return current or task
    if settled.companion_id not in (None, current.companion_id):
        current = _done_by(draft, current, settled.companion_id or "")
    error = None
    if settled.code is not None:
        message = (settled.message or "")[:SUMMARY_LIMIT]
        error = {"code": settled.code[:_NAME_LIMIT], "message": message}
    closed = draft.put(
        replace(
            current,
            status=settled.status,
            summary=settled.summary[:SUMMARY_LIMIT] if settled.summary else None,
            error=error,
            started_at=settled.started_at,
            finished_at=settled.finished_at or draft.now,
            selection=_small(settled.selection),
            metrics=_small(settled.metrics),
            # Its run has all of it.
            description=current.description[:DESCRIPTION_KEPT],
            input=None,
            document=None,
            size=0,
        )
    )
    _free(draft, closed)
    _credit(draft, closed)
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


def _small(said: Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    """Numbers and short texts of it: whoever reports may report anything, and its output keeps all
    of it."""
    if said is None:
        return None
    kept = {
        name: value
        for name, value in said.items()
        if len(name) <= _NAME_LIMIT
        and (value is None or isinstance(value, bool | int | float | str))
        and len(str(value)) <= _NAME_LIMIT
    }
    return dict(list(kept.items())[:_FIGURES])


def ask_to_end(draft: Draft, task: SessionTask, *, by: str, reason: str | None) -> None:
    """Let an open task be cancelled by the tick, unless somebody asked for that before."""
    if task.is_open and task.cancelled_by is None:
        draft.put(replace(task, cancelled_by=by, reason=reason))
        draft.tell("TaskCancelled", task_id=task.task_id, by=by, reason=reason)


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
        )
    )


def _credit(draft: Draft, task: SessionTask) -> None:
    """Count the closed task with the companion that had it, also with one that is gone."""
    for there in (draft.companions, draft.former):
        companion = there.get(task.companion_id or "")
        if companion is not None:
            there[companion.companion_id] = replace(
                companion,
                succeeded=companion.succeeded + (task.status in DONE),
                failed=companion.failed + (task.status == "failed"),
            )


def _done_by(draft: Draft, task: SessionTask, companion_id: str) -> SessionTask:
    """The task as one of the companion that did it: who got it since never began."""
    _free(draft, task)
    attempts = task.attempts
    if attempts and attempts[-1].why is None:
        why = f"{companion_id} had done it"
        attempts = (*attempts[:-1], replace(attempts[-1], why=why))
    return draft.put(replace(task, companion_id=companion_id, attempts=attempts))


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
        ask_to_end(draft, child, by="dcf", reason="the broadcast is decided")
