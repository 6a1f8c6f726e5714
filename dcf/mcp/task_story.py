"""What a task of a session put out, and how it came to where it stands."""

from __future__ import annotations

from typing import Any, cast

from control_plane import Store, UnknownRun, read_record_history
from dcf.mcp.session_views import why
from dcf.sessions import Session, Sessions, SessionTask
from dcf.sessions.archive import clean
from dcf.workflow import explain, iso

_EVENTS = 50


async def output_of(store: Store, task: SessionTask) -> dict[str, Any]:
    """``{output, artifacts, metrics}``, whole; secrets are taken out."""
    nothing: dict[str, Any] = {"output": None, "artifacts": [], "metrics": {}}
    if task.kind == "group" or task.first_at is None:
        return nothing
    try:
        run = await store.run(task.task_id)
    except UnknownRun:
        return nothing
    found = await store.outputs(task.task_id, [run.exit]) if run.exit is not None else {}
    if run.exit is None or run.exit not in found:
        return nothing
    put_out = found[run.exit]
    whole = {
        "output": await store.value(task.task_id, put_out.get("data")),
        "artifacts": list(put_out.get("artifacts") or ()),
        "metrics": dict(put_out.get("metrics") or {}),
    }
    return cast("dict[str, Any]", clean(whole))


async def explained(sessions: Sessions, session_id: str, task_id: str) -> dict[str, Any]:
    """Why the task waits, where it is, or how it ended; with what its run says of itself. Raises
    UnknownSession, UnknownTask."""
    task = await sessions.task(session_id, task_id)
    session = await sessions.get(session_id)
    run = await _run(sessions.store, task)
    story = {
        "session_id": session_id,
        "task_id": task_id,
        "task_status": task.status,
        "summary": _summary(session, task, run),
        "attempts": [
            {"companion_id": one.companion_id, "at": iso(one.at), "why": one.why, "lost": one.lost}
            for one in task.attempts
        ],
        "run": run,
        "events": await _events(sessions, session_id, task_id),
    }
    return cast("dict[str, Any]", clean(story))


async def _run(store: Store, task: SessionTask) -> dict[str, Any] | None:
    if task.kind == "group" or task.first_at is None:
        return None
    try:
        return (await explain(store, task.task_id)).to_json()
    except UnknownRun:
        return None


def _summary(session: Session, task: SessionTask, run: dict[str, Any] | None) -> str:
    if task.is_open:
        said = f"it is {task.status}: {why(session, task)}"
        return f"{said}; {run['summary']}" if task.status == "assigned" and run else said
    said = f"it is {task.status}"
    if task.error is not None:
        return f"{said}: {task.error['code']}: {task.error['message']}"
    return f"{said}, by {task.companion_id}" if task.companion_id else said


async def _events(sessions: Sessions, session_id: str, task_id: str) -> list[dict[str, Any]]:
    """The last events of the session that name the task."""
    found: list[dict[str, Any]] = []
    async for one in read_record_history(sessions.records, session_id):
        if one.event.get("task_id") == task_id:
            found = [*found, {"at": iso(one.at), **one.event}][-_EVENTS:]
    return found
