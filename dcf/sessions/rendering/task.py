"""The block ``task_context``: what a companion is doing, and what it did last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dcf.citation import Citation
from dcf.sessions.rendering.fitting import Part, Room, fitted
from dcf.sessions.rendering.log import shortened
from dcf.sessions.rendering.rendered import Rendered, Stamp
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask
from dcf.workflow import iso

LABEL = "task_context"
ROOM = Room(8_000, 2_500)
HISTORY = 50
_DESCRIPTION = 4_000


def task_context(
    session: Session,
    companion_id: str,
    paged: Iterable[SessionTask] = (),
    *,
    room: Room = ROOM,
) -> Rendered:
    """The block of one companion: its task as it was delegated, and the last ones it has done,
    the newest last. ``paged`` as for the log."""
    stamp = Stamp.of(session)
    companion = session.companions.get(companion_id) or session.former.get(companion_id)
    current = session.tasks.get((companion and companion.task_id) or "")
    # What was cancelled under its hands is nothing that it has done.
    done = [
        task
        for task in (*paged, *session.tasks.values())
        if task.companion_id == companion_id and not task.is_open and task.status != "cancelled"
    ]
    done.sort(key=lambda task: (task.finished_at or 0, task.task_id))
    counted = companion.succeeded + companion.failed if companion else 0
    document = {
        **stamp.to_json(),
        "companion_id": companion_id,
        "current_task": _delegated(current) if current is not None else None,
        "task_started_at": _since(current, companion_id),
        "task_history": [_past(task) for task in done],
    }
    parts = []
    if current is not None:
        run = str(Citation("run", current.task_id))
        parts = [
            Part("current_task.task.description", run, most=_DESCRIPTION),
            Part("current_task.task.input", run),
        ]
    before = max(0, counted - len(done))
    history = Part("task_history", "list_session_tasks", most=HISTORY, before=before)
    return Rendered(
        LABEL,
        "The task at hand and the last ones, as the session has them.",
        room.size,
        stamp,
        fitted(document, [*parts, history], room),
    )


def _delegated(task: SessionTask) -> dict[str, Any]:
    return {
        "type": "task_delegation",
        "task_id": task.task_id,
        "from_conductor": task.by,
        "timestamp": iso(task.delegated_at),
        "deadline_at": iso(task.deadline_at),
        "task": {
            "description": task.description,
            "required_skills": list(task.skills),
            "input": task.input,
            "priority": task.priority,
            "timeout_seconds": round((task.deadline_at - task.delegated_at) / 1000),
        },
    }


def _since(task: SessionTask | None, companion_id: str) -> str | None:
    """When the companion got the task."""
    at = [one.at for one in task.attempts if one.companion_id == companion_id] if task else []
    return iso(at[-1]) if at else None


def _past(task: SessionTask) -> dict[str, Any]:
    result: dict[str, Any] = {
        "status": task.status,
        "summary": task.summary,
        "reference": task.reference,
    }
    if task.error is not None:
        result["error"] = task.error
    return {
        "task": {
            "task_id": task.task_id,
            "task_type": task.task_type,
            "description": shortened(task.description),
        },
        "result": result,
        "completed_at": None if task.finished_at is None else iso(task.finished_at),
    }
