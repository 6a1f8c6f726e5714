"""Sessions, task by task."""

from __future__ import annotations

from typing import Any

from dcf.advisors.strategist import Activity, Companion, StrategistRules, Task

NOW = 1_790_000_000_000
SECOND_MS = 1_000
RULES = StrategistRules.default()
GOOD, BAD = "skill.shop.refund@2.0.0", "skill.shop.refund@1.0.0"


def ended(number: int, ok: bool = True, **changes: Any) -> Task:
    """The task that ended so many minutes after NOW; it waited ten seconds and took thirty."""
    finished = NOW + number * 60 * SECOND_MS
    fields: dict[str, Any] = {
        "task_id": f"task-{number}",
        "task_type": "refund",
        "status": "succeeded" if ok else "failed",
        "delegated_at": finished - 40 * SECOND_MS,
        "skills": (BAD,),
        "companion_id": "companion-1",
        "specialization": "generalist",
        "started_at": finished - 30 * SECOND_MS,
        "finished_at": finished,
        "error_code": None if ok else "Bank.Refused",
    }
    return Task(**{**fields, **changes})


def session(*tasks: Task, **changes: Any) -> Activity:
    """A session with these tasks and two companions, looked at an hour after the last one."""
    last = max((task.finished_at or NOW for task in tasks), default=NOW)
    companions = tuple(Companion(f"companion-{one}", f"Companion {one}", NOW) for one in (1, 2))
    fields: dict[str, Any] = {
        "session_id": "session-1",
        "now": last + 3_600 * SECOND_MS,
        "tasks": tasks,
        "companions": companions,
    }
    return Activity(**{**fields, **changes})


def versions(count: int) -> list[Task]:
    """So many tasks with each of two versions, in turn: the good one succeeds, the bad one only in
    one of four."""
    return [
        ended(2 * number + place, place == 1 or number % 4 == 0, skills=(skill,))
        for number in range(count)
        for place, skill in enumerate((BAD, GOOD))
    ]
