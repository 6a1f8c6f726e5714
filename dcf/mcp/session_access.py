"""Finding the session that a call is about."""

from __future__ import annotations

from control_plane import UnknownRun, UnknownSession
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.sessions import (
    check_conductor,
    nearest_sessions,
    session_of_run,
    sessions_of_companion,
    sessions_of_task,
)

_HINT = "list_sessions has those there are"


async def session_of_companion(
    platform: Platform, companion_id: str, session_id: str | None
) -> str:
    """The session that is named, or else the only one with this companion. Raises Refused."""
    if session_id is not None:
        return session_id
    found = await sessions_of_companion(platform.sessions, companion_id)
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{companion_id[:100]!r} is in {', '.join(found[:5])}"
        raise Refused("session_id_missing", message, hint="say session_id")
    message = f"no session that is open has a companion {companion_id[:100]!r}"
    raise Refused("unknown_companion", message, hint="list_session_companions has the ids")


async def session_of_task(platform: Platform, task_id: str, session_id: str | None) -> str:
    """The session that is named, or else the one that the run of the task belongs to, or one of the
    newest that has such a task. Raises Refused."""
    if session_id is not None:
        return session_id
    try:
        of_run = session_of_run(await platform.store.run(task_id))
    except UnknownRun:
        of_run = None
    if of_run is not None:
        return of_run
    found = await sessions_of_task(platform.sessions, task_id)
    if len(found) == 1:
        return found[0]
    message = f"no session is known to have begun task {task_id[:100]!r}"
    if found:
        message = f"there is a task {task_id[:100]!r} in {', '.join(found[:5])}"
    raise Refused("session_id_missing", message, hint="say session_id")


async def conductor_of(platform: Platform, session_id: str, conductor_id: str | None) -> str:
    """Who is named, or else the first conductor of the session. Raises UnknownSession, and
    NoConductor for who does not conduct it."""
    session = await platform.sessions.get(session_id)
    if conductor_id is None:
        return session.head.conductors[0]
    check_conductor(session, conductor_id)
    return conductor_id


async def with_nearest(platform: Platform, unknown: UnknownSession) -> Refused:
    """What is answered where a session is named that there is not."""
    near = await nearest_sessions(platform.sessions, str(unknown.fields.get("session", "")))
    hint = f"nearest: {', '.join(near)}; {_HINT}" if near else _HINT
    return Refused(unknown.code, str(unknown), hint=hint)
