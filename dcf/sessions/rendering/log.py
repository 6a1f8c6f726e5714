"""The block ``delegation_log``: what was delegated to whom, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dcf.sessions.rendering.fitting import Part, Room, fitted
from dcf.sessions.rendering.rendered import Rendered, Stamp
from dcf.sessions.session import Session
from dcf.sessions.task import SessionTask
from dcf.workflow import iso

LABEL = "delegation_log"
ROOM = Room(20_000, 7_000)
DELEGATIONS = 100
_DESCRIPTION = 200
_MODEL = ("tier", "model", "fcs")


def delegation_log(
    session: Session, paged: Iterable[SessionTask] = (), *, room: Room = ROOM
) -> Rendered:
    """The block: the last hundred delegations, the newest last. ``paged`` are closed tasks that
    were moved to pages, all or the last ones: the others are counted."""
    stamp = Stamp.of(session)
    # A broadcast is one delegation for each companion that it was for.
    tasks = [task for task in (*paged, *session.tasks.values()) if task.kind != "group"]
    tasks.sort(key=lambda task: (task.delegated_at, task.task_id))
    document = {
        **stamp.to_json(),
        "created_at": iso(session.head.created_at),
        "last_delegation_at": iso(tasks[-1].delegated_at) if tasks else None,
        "delegations": [delegation(session, task) for task in tasks],
    }
    before = max(0, session.head.counts.delegated - len(tasks))
    part = Part("delegations", "list_session_tasks", most=DELEGATIONS, before=before)
    return Rendered(
        LABEL,
        "The last delegations of the session, as its document has them.",
        room.size,
        stamp,
        fitted(document, [part], room),
    )


def delegation(session: Session, task: SessionTask) -> dict[str, Any]:
    """One entry of the log. ``duration_s`` is of the work alone; None if it never began."""
    companion_id = task.companion_id or task.wanted
    companion = session.companions.get(companion_id or "") or session.former.get(companion_id or "")
    finished = None if task.is_open else task.finished_at
    entry: dict[str, Any] = {
        "task_id": task.task_id,
        "companion_id": companion_id,
        "companion_name": companion.name if companion else None,
        "skills_assigned": list(task.skills),
        "task_description": shortened(task.description),
        "priority": task.priority,
        "timeout_seconds": round((task.deadline_at - task.delegated_at) / 1000),
        "status": "pending" if task.is_open else "completed",
        "delegated_at": iso(task.delegated_at),
        "completed_at": None if finished is None else iso(finished),
        "duration_s": _seconds(task.started_at, finished),
        "result_status": None if task.is_open else task.status,
    }
    if task.error is not None:
        entry["error_code"] = task.error.get("code")
    if task.selection:
        entry["model_selection"] = {
            name: task.selection[name] for name in _MODEL if name in task.selection
        }
    if task.group is not None:
        entry["broadcast_id"] = task.group
    return entry


def _seconds(start: int | None, end: int | None) -> float | None:
    return None if start is None or end is None else round((end - start) / 1000, 3)


def shortened(text: str, most: int = _DESCRIPTION) -> str:
    """``text`` with at most ``most`` characters; an ellipsis is the last where something was
    cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
