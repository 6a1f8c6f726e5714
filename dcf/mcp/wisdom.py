"""What the companions of a session did, for whoever keeps it."""

from __future__ import annotations

from typing import Any, cast

from dcf.sessions import Session, Sessions
from dcf.sessions.archive import clean
from dcf.sessions.rendering import delegation
from dcf.workflow import iso

_HISTORY = 10


async def wisdom_of(sessions: Sessions, session: Session) -> list[dict[str, Any]]:
    """An entry for each companion, present or former, with the last ten tasks that it had."""
    tasks = [task for task in await sessions.tasks(session.session_id) if task.kind != "group"]
    at = iso(session.updated_at)
    found = []
    for one in (*session.companions.values(), *session.former.values()):
        done = [t for t in tasks if t.companion_id == one.companion_id and not t.is_open]
        entry = {
            "companion_id": one.companion_id,
            "companion_name": one.name,
            "specialization": one.specialization,
            "tasks_completed": one.succeeded,
            "task_history": [delegation(session, task) for task in done[-_HISTORY:]],
            "collected_at": at,
        }
        found.append(cast("dict[str, Any]", clean(entry)))
    return found
