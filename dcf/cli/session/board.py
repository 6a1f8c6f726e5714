"""What a session looks like at one moment: a row for each task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import StateDocument, Store, encode_name
from dcf.cli.session.numbers import numbers_of
from dcf.cli.wording import counted
from dcf.sessions import Session, Sessions, SessionTask, is_suitable, why_it_waits
from dcf.workflow import iso, pending_approvals

MOST_LOOKED_INTO = 50
"""Runs that are looked into for how far they are; of others it is told that they are assigned."""

_APPROVAL = "waiting (approval)"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task. ``number`` is what its conductor calls it, where it has one. ``status`` is what its
    run says where it has one: running, ready, waiting. ``found`` is what came of it, or why it is
    not done; ``seconds`` since it was delegated, to its end."""

    task_id: str
    what: str
    status: str
    companion: str
    seconds: float
    found: str
    task: SessionTask
    number: int | None = None

    @property
    def name(self) -> str:
        """Its number with its id, or its id alone."""
        return self.task_id if self.number is None else f"{self.number} ({self.task_id})"

    def to_json(self) -> dict[str, Any]:
        task = self.task
        return {
            "task_id": self.task_id,
            "number": self.number,
            "task_type": task.task_type,
            "kind": task.kind,
            "description": task.description,
            "status": task.status,
            "doing": self.status,
            "companion_id": task.companion_id,
            "priority": task.priority,
            "skills": list(task.skills),
            "after": list(task.after),
            "group": task.group,
            "request": task.request,
            "attempts": len(task.attempts),
            "delegated_at": iso(task.delegated_at),
            "deadline_at": iso(task.deadline_at),
            "finished_at": iso(task.finished_at) if task.finished_at else None,
            "seconds": self.seconds,
            "summary": task.summary,
            "error": task.error,
            "waits": self.found if task.is_open else None,
            "result_ref": task.reference,
        }


@dataclass(frozen=True, slots=True)
class SessionBoard:
    """A session with rows of its tasks, at ``now`` (ms); ``unserved`` are companions that nobody
    serves at the moment."""

    session: Session
    rows: Sequence[TaskRow]
    now: int
    unserved: frozenset[str] = frozenset()

    @property
    def gist(self) -> str:
        """The session in one line."""
        counts = self.session.head.counts
        parts = [counted(len(self.session.companions), "companion", "companions")]
        numbers = {
            "open": len([task for task in self.session.open_tasks if task.kind != "group"]),
            "done": counts.succeeded,
            "partly done": counts.partial,
            "failed": counts.failed,
            "cancelled": counts.cancelled,
        }
        tasks = [f"{number} {what}" for what, number in numbers.items() if number]
        parts.append(f"tasks: {', '.join(tasks)}" if tasks else "no tasks yet")
        return ", ".join(parts)


async def read_board(
    sessions: Sessions, session: Session, tasks: Iterable[SessionTask] | None = None
) -> SessionBoard:
    """The board of ``tasks``; without any named, of all that the session still has at hand."""
    shown = list(session.tasks.values() if tasks is None else tasks)
    now, ends = await sessions.seated(tuple(session.companions), session.session_id)
    unserved = frozenset(one for one in session.companions if ends.get(one, 0) <= now)
    doing: dict[str, str] = {}
    for task in [one for one in shown if one.status == "assigned"][:MOST_LOOKED_INTO]:
        doing[task.task_id] = await _doing(sessions.store, task)
    return build_board(session, shown, doing, now, unserved)


def build_board(
    session: Session,
    tasks: Iterable[SessionTask],
    doing: Mapping[str, str],
    now: int,
    unserved: frozenset[str] = frozenset(),
) -> SessionBoard:
    """The board of ``tasks`` at ``now``; ``doing`` is what the runs of some of them say."""
    numbers = numbers_of(session)
    rows = [
        TaskRow(
            task_id=task.task_id,
            what=task.description,
            status=doing.get(task.task_id, task.status),
            companion=task.companion_id or ("workers" if task.kind == "workflow" else ""),
            seconds=max(0.0, ((task.finished_at or now) - task.delegated_at) / 1000),
            found=_found(session, task, doing.get(task.task_id, ""), unserved),
            task=task,
            number=numbers.get(task.task_id),
        )
        for task in tasks
    ]
    return SessionBoard(session, rows, now, unserved)


async def _doing(store: Store, task: SessionTask) -> str:
    """What the run of an assigned task does; that it is assigned where it has none yet."""
    if task.kind == "workflow":
        run = await store.run_many([task.task_id])
        if not run:
            return task.status
        return _APPROVAL if await pending_approvals(store, task.task_id) else run[0].status
    path = encode_name(task.state)
    state: StateDocument | None = (await store.states(task.task_id, [path])).get(path)
    if state is None:
        return task.status
    return f"waiting ({state.wait})" if state.status == "waiting" else state.status


def _found(session: Session, task: SessionTask, doing: str, unserved: frozenset[str]) -> str:
    if task.error is not None:
        return f"{task.error.get('code')}: {task.error.get('message')}"
    if task.summary is not None:
        return task.summary
    if doing == _APPROVAL:
        return "waits for approval: `dcf approvals`"
    holder = session.companions.get(task.companion_id or "")
    if holder is not None and holder.companion_id in unserved:
        return f"nobody serves {holder.companion_id}"
    if task.status != "queued":
        return ""
    why = why_it_waits(session, task)
    idle = [
        one.companion_id
        for one in session.companions.values()
        if one.companion_id in unserved and is_suitable(one, task.wanted, task.specialization)
    ]
    waits = session.state == "paused" or task.kind != "companion" or _waits_for(session, task)
    return why if waits or not idle else f"nobody serves {', '.join(idle)}"


def _waits_for(session: Session, task: SessionTask) -> bool:
    """Whether a task that must be done before it is not."""
    return any(other in session.tasks and session.tasks[other].is_open for other in task.after)
