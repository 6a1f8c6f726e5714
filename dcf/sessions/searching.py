"""Finding the session of a task or a companion that is named without it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from control_plane import UnknownSession, keys
from dcf.sessions.listing import newest_sessions
from dcf.sessions.seat import whose
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions

SEARCHED = 200
"""So many of the newest sessions are looked through."""


async def sessions_of_task(sessions: Sessions, task_id: str) -> list[str]:
    """Those of the newest sessions that have such a task, open or closed, the newest first."""
    found = []
    async for session in _newest(sessions):
        known = task_id in session.tasks
        if not known and session.head.pages:
            closed = await sessions.closed(session.session_id)
            known = any(task.task_id == task_id for task in closed)
        if known:
            found.append(session.session_id)
    return found


async def sessions_of_companion(sessions: Sessions, companion_id: str) -> list[str]:
    """The sessions in which somebody serves such a companion; if there are none, those of the
    newest sessions that have one whom nobody serves."""
    found: set[str] = set()
    for key in (keys.COMPANIONS, keys.EXTERNAL_COMPANIONS):
        seats = await sessions.backend.command("ZRANGE", key, 0, -1)
        found |= {session for session, one in map(whose, map(str, seats)) if one == companion_id}
    if found:
        return sorted(found)
    return [
        session.session_id
        async for session in _newest(sessions)
        if companion_id in session.companions and not session.is_over
    ]


async def _newest(sessions: Sessions) -> AsyncIterator[Session]:
    for row in (await newest_sessions(sessions, SEARCHED)).rows:
        try:
            yield await sessions.get(row.session_id)
        except UnknownSession:
            # It was deleted since it was listed.
            continue
