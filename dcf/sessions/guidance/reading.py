"""The activity of a session as agents read it (``read_session_activity``)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcf.sessions.rendering import delegation, session_context
from dcf.sessions.rendering.log import shortened
from dcf.sessions.task import SessionTask
from dcf.workflow import iso

if TYPE_CHECKING:
    from dcf.sessions.guidance.activity import SessionActivity

DELEGATIONS = 50
HISTORY = 20
"""So many delegations of a session, and tasks of a companion, are told: the last ones."""
_TOP = 5
_UNNAMED = "unnamed"


def context_read(activity: SessionActivity) -> dict[str, Any]:
    """The context as the block ``session_context`` has it."""
    session = activity.session
    paged = [task for task in activity.tasks if task.task_id not in session.tasks]
    context: dict[str, Any] = json.loads(session_context(session, paged).text)
    return context


def delegations_read(activity: SessionActivity) -> tuple[list[dict[str, Any]], int]:
    """The last ones as the block ``delegation_log`` has them, and how many were before them."""
    shown = activity.tasks[-DELEGATIONS:]
    return (
        [
            {
                **delegation(activity.session, task),
                "task_type": task.task_type,
                "state": task.status,
            }
            for task in shown
        ],
        len(activity.tasks) - len(shown),
    )


def companions_read(activity: SessionActivity, *, with_history: bool) -> list[dict[str, Any]]:
    """The companions that are there, each with what it did."""
    by_companion: dict[str | None, list[SessionTask]] = defaultdict(list)
    for task in activity.tasks:
        by_companion[task.companion_id].append(task)
    found = []
    for companion in activity.session.companions.values():
        tasks = by_companion[companion.companion_id]
        statuses = Counter(task.status for task in tasks)
        current = activity.session.tasks.get(companion.task_id or "")
        found.append(
            {
                "companion_id": companion.companion_id,
                "companion_name": companion.name,
                "specialization": companion.specialization,
                "status": companion.status,
                "current_task": companion.task_id,
                "tasks_completed": statuses["succeeded"],
                "tasks_failed": statuses["failed"],
                "tasks_partial": statuses["partial"],
                "skills_used": sorted({skill for task in tasks for skill in task.skills}),
                "task_history": _history(tasks) if with_history else [],
                # Skills are loaded for a task, and unloaded after it.
                "loaded_skills": list(current.skills) if current is not None else [],
            }
        )
    return found


def skills_read(activity: SessionActivity) -> dict[str, dict[str, Any]]:
    """By manifest id: how often each was used, and how its tasks ended."""
    used: dict[str, list[SessionTask]] = defaultdict(list)
    for task in activity.tasks:
        for skill in dict.fromkeys(task.skills):
            used[skill].append(task)
    found = {}
    for skill, tasks in sorted(used.items()):
        modes = Counter(
            (task.error or {}).get("code") or _UNNAMED for task in tasks if task.status == "failed"
        )
        statuses = Counter(task.status for task in tasks)
        found[skill] = {
            "usage_count": len(tasks),
            "success_count": statuses["succeeded"],
            "failure_count": statuses["failed"],
            "partial_count": statuses["partial"],
            "cancelled_count": statuses["cancelled"],
            "pending_count": sum(task.is_open for task in tasks),
            "avg_duration_s": _mean_s(tasks),
            "success_rate": _rate(tasks),
            "failure_modes": [
                {"mode": mode, "count": count}
                for mode, count in sorted(modes.items(), key=lambda one: (-one[1], one[0]))
            ],
        }
    return found


def metrics_read(activity: SessionActivity) -> dict[str, Any]:
    """Totals of the session."""
    tasks = activity.tasks
    companions = Counter(one.status for one in activity.session.companions.values())
    statuses = Counter(task.status for task in tasks)
    skills = Counter(skill for task in tasks for skill in dict.fromkeys(task.skills))
    return {
        "companion_count": companions.total(),
        "idle_companions": companions["idle"],
        "busy_companions": companions["busy"],
        "error_companions": companions["error"] + companions["lost"],
        "total_delegations": len(tasks),
        "completed_tasks": statuses["succeeded"],
        "failed_tasks": statuses["failed"],
        "partial_tasks": statuses["partial"],
        "cancelled_tasks": statuses["cancelled"],
        "pending_tasks": sum(task.is_open for task in tasks),
        "success_rate": _rate(tasks),
        "avg_task_duration_s": _mean_s(tasks),
        "unique_skills_used": len(skills),
        "top_skills": [
            skill for skill, _ in sorted(skills.items(), key=lambda one: (-one[1], one[0]))[:_TOP]
        ],
    }


def _history(tasks: Sequence[SessionTask]) -> list[dict[str, Any]]:
    """The last tasks that ended, the newest last."""
    ended = [task for task in tasks if not task.is_open]
    ended.sort(key=lambda task: (task.finished_at or 0, task.task_id))
    return [
        {
            "task_id": task.task_id,
            "task_type": task.task_type,
            "description": shortened(task.description),
            "status": task.status,
            "summary": task.summary,
            "error_code": (task.error or {}).get("code"),
            "completed_at": None if task.finished_at is None else iso(task.finished_at),
        }
        for task in ended[-HISTORY:]
    ]


def _rate(tasks: Sequence[SessionTask]) -> float | None:
    """Per cent of those that ended otherwise than by being cancelled."""
    ended = [task for task in tasks if not task.is_open and task.status != "cancelled"]
    if not ended:
        return None
    return round(100 * sum(task.status == "succeeded" for task in ended) / len(ended), 1)


def _mean_s(tasks: Sequence[SessionTask]) -> float | None:
    """The mean time of work, in seconds, of what was worked at to its end."""
    times = [
        task.finished_at - task.started_at
        for task in tasks
        if not task.is_open
        and task.status != "cancelled"
        and task.started_at is not None
        and task.finished_at is not None
    ]
    return round(sum(times) / len(times) / 1000, 3) if times else None
