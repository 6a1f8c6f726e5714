"""Sessions as clients see them: no tokens, no secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from dcf.agents.models import named_model
from dcf.sessions import Companion, Head, Session, SessionTask, why_it_waits
from dcf.sessions.archive import clean
from dcf.workflow import iso

_SHORT = 300
"""Characters of a task's description in a list."""
_DONE_SHOWN = 50


def session_view(session: Session) -> dict[str, Any]:
    """A session without its companions and tasks, which are counted."""
    context = session.context
    tasks = [task for task in session.tasks.values() if task.kind != "group"]
    view = {
        **head_view(session.session_id, session.head),
        "revision": session.revision,
        "updated_at": iso(session.updated_at),
        "ended_at": _iso(session.head.ended_at),
        "reason": session.head.reason,
        "preferences": context.preferences,
        "shared_data": context.shared_data,
        "announcements": list(context.announcements),
        "active_tasks": [task.task_id for task in tasks if task.is_open],
        "completed_tasks": [task.task_id for task in tasks if not task.is_open][-_DONE_SHOWN:],
        "companions": dict(Counter(one.status for one in session.companions.values())),
    }
    return cast("dict[str, Any]", clean(view))


def head_view(session_id: str, head: Head) -> dict[str, Any]:
    """What a list says of a session."""
    counts = head.counts
    row = {
        "session_id": session_id,
        "state": head.state,
        "objective": head.objective,
        "conductors": list(head.conductors),
        "created_at": iso(head.created_at),
        "counts": {**asdict(counts), "open": counts.delegated - counts.closed},
    }
    return cast("dict[str, Any]", clean(row))


def task_row(session: Session, task: SessionTask) -> dict[str, Any]:
    """A task in a list: with ``why`` it is not done, or its summary and error."""
    row = {
        "task_id": task.task_id,
        "status": task.status,
        "task_type": task.task_type,
        "description": task.description[:_SHORT],
        "kind": task.kind,
        "companion_id": task.companion_id or task.wanted,
        "specialization": task.specialization,
        "priority": task.priority,
        "skills": list(task.skills),
        "after": list(task.after),
        "request": task.request,
        "broadcast_id": task.group,
        "children": list(task.children),
        "delegated_at": iso(task.delegated_at),
        "deadline": iso(task.deadline_at),
        "finished_at": _iso(task.finished_at),
        "attempts": len(task.attempts),
        "why": why(session, task) if task.is_open else None,
        "summary": task.summary,
        "error": task.error,
        "reference": task.reference,
    }
    kept = {name: part for name, part in row.items() if part not in (None, [], "")}
    return cast("dict[str, Any]", clean(kept))


def why(session: Session, task: SessionTask) -> str:
    """Why an open task is not done yet."""
    if task.cancelled_by is not None:
        return f"it is being cancelled: {task.reason or f'by {task.cancelled_by}'}"
    if task.kind == "group":
        return f"{task.need} of {len(task.children)} are needed"
    if task.status == "assigned":
        since = iso(task.attempts[-1].at if task.attempts else task.first_at or task.delegated_at)
        return f"{task.companion_id or 'workers'} has it since {since}"
    return why_it_waits(session, task)


def companion_row(
    session: Session, companion: Companion, environment: Mapping[str, str]
) -> dict[str, Any]:
    """A companion; ``loaded_skills`` are those of the task that it has."""
    task = session.tasks.get(companion.task_id or "")
    row = {
        "companion_id": companion.companion_id,
        "companion_name": companion.name,
        "specialization": companion.specialization,
        "status": companion.status,
        "conductor_id": companion.created_by,
        "current_task": companion.task_id,
        "loaded_skills": list(task.skills) if task is not None else [],
        "initial_skills": list(companion.skills),
        "tags": tags_of(session.session_id, companion),
        "external": companion.external,
        "served": companion.seated_at is not None and companion.status != "lost",
        "succeeded": companion.succeeded,
        "failed": companion.failed,
        "idle_since": _iso(companion.idle_since) if companion.status == "idle" else None,
        "reason": companion.reason,
        "model_config": model_config(companion, environment),
    }
    return cast("dict[str, Any]", clean(row))


def tags_of(session_id: str, companion: Companion) -> list[str]:
    """What the earlier server kept as tags of the companion's agent; here they follow from it."""
    tags = [
        "role:companion",
        f"session:{session_id}",
        f"specialization:{companion.specialization}",
        f"status:{companion.status}",
        f"conductor:{companion.created_by}",
    ]
    return [*tags, f"task:{companion.task_id}"] if companion.task_id else tags


def model_config(companion: Companion, environment: Mapping[str, str]) -> dict[str, Any]:
    """{tier, model, source}: what the companion thinks with, unless a task asks for more."""
    if companion.model is not None:
        return {"tier": companion.tier, "model": companion.model, "source": "manual_override"}
    named = named_model(environment, tier=companion.tier)
    return {"tier": companion.tier, "model": named.name, "source": named.setting or "fallback"}


def _iso(moment: int | None) -> str | None:
    return None if moment is None else iso(moment)
