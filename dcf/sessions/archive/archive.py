"""The folder ``{session_id}/``: ``session.json``, ``tasks.json``, ``delegations.json``,
``results.json``, ``results/*.json``, ``transcript.md``, ``transcript.jsonl``, ``history.jsonl``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from control_plane import check_session_id
from dcf.sessions.archive.folder import replaced, write_json
from dcf.sessions.archive.redacting import clean
from dcf.sessions.archive.results import results
from dcf.sessions.archive.transcript import write_history
from dcf.sessions.rendering import delegation
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.sessions.task import SessionTask
from dcf.workflow import iso


async def write_archive(sessions: Sessions, session_id: str, folder: Path) -> Path:
    """Write the session to ``folder``/``session_id``, in place of what is there; that folder.

    It appears when it is whole: who fails or is killed on the way leaves the archive of before. Of
    a session that is not over it is a snapshot, and says so. Secrets are taken out.

    Raises UnknownSession, BadName, CorruptHistory, BlockingIOError when somebody else is archiving
    the session there, OSError.
    """
    place = folder / check_session_id(session_id)
    await sessions.get(session_id)
    async with replaced(place) as part:
        # Later than the archive that is replaced: only one writes at a time.
        session, tasks = await _read(sessions, session_id)
        write_json(part / "tasks.json", [_task(task) for task in tasks])
        delegations = [clean(delegation(session, task)) for task in tasks if task.kind != "group"]
        write_json(part / "delegations.json", delegations)
        write_json(part / "results.json", await results(sessions.store, tasks, part))
        events = await write_history(sessions, session_id, part)
        at = iso(await sessions.store.now_ms())
        write_json(part / "session.json", _session(session, events, at))
    return place


async def _read(sessions: Sessions, session_id: str) -> tuple[Session, list[SessionTask]]:
    """The session with all its tasks in the order in which they were delegated."""
    session = await sessions.get(session_id)
    tasks = {task.task_id: task for task in await sessions.closed(session_id)}
    # A task that went to a page since the session was read is on both; the page is the later one.
    tasks = {**session.tasks, **tasks}
    return session, sorted(tasks.values(), key=lambda task: (task.delegated_at, task.task_id))


def _task(task: SessionTask) -> dict[str, Any]:
    found: dict[str, Any] = clean(
        {"task_id": task.task_id, "status": task.status, **task.to_json()}
    )
    return found


def _session(session: Session, events: int, archived_at: str) -> dict[str, Any]:
    head, counts = session.head, session.head.counts
    document = {
        "session_id": session.session_id,
        "state": session.state,
        "snapshot": not session.is_over,
        "objective": head.objective,
        "conductors": list(head.conductors),
        "created_at": iso(head.created_at),
        "ended_at": None if head.ended_at is None else iso(head.ended_at),
        "reason": head.reason,
        "counts": {
            "delegated": counts.delegated,
            "succeeded": counts.succeeded,
            "failed": counts.failed,
            "partial": counts.partial,
            "cancelled": counts.cancelled,
            "open": len([task for task in session.open_tasks if task.kind != "group"]),
        },
        "context": session.context.to_json(),
        "companions_employed": head.employed,
        "companions": [
            {**replace(one, token_digest=None).to_json(), "status": one.status}
            for one in (*session.companions.values(), *session.former.values())
        ],
        "events": events,
        "revision": session.revision,
        "updated_at": iso(session.updated_at),
        "archived_at": archived_at,
    }
    cleaned: dict[str, Any] = clean(document)
    return cleaned
