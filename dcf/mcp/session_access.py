"""Finding the session that a call is about."""

from __future__ import annotations

from control_plane import UnknownRun, UnknownSession, keys
from dcf.mcp.envelope import Refused
from dcf.mcp.platform import Platform
from dcf.sessions import nearest_sessions, session_of_run, whose

_HINT = "list_sessions has those there are"


async def session_of_companion(
    platform: Platform, companion_id: str, session_id: str | None
) -> str:
    """The session that is named, or else the only one with this companion. Raises Refused."""
    if session_id is not None:
        return session_id
    found: set[str] = set()
    for key in (keys.COMPANIONS, keys.EXTERNAL_COMPANIONS):
        seats = await platform.backend.command("ZRANGE", key, 0, -1)
        found |= {session for session, one in map(whose, map(str, seats)) if one == companion_id}
    if len(found) == 1:
        return found.pop()
    if found:
        message = f"{companion_id[:100]!r} is in {', '.join(sorted(found)[:5])}"
        raise Refused("session_id_missing", message, hint="say session_id")
    message = f"no session that is open has a companion {companion_id[:100]!r}"
    raise Refused("unknown_companion", message, hint="list_session_companions has the ids")


async def session_of_task(platform: Platform, task_id: str, session_id: str | None) -> str:
    """The session that is named, or else the one that the run of the task belongs to. Raises
    Refused."""
    if session_id is not None:
        return session_id
    try:
        found = session_of_run(await platform.store.run(task_id))
    except UnknownRun:
        found = None
    if found is None:
        message = f"no session is known to have begun task {task_id[:100]!r}"
        raise Refused("session_id_missing", message, hint="say session_id")
    return found


async def conductor_of(platform: Platform, session_id: str, conductor_id: str | None) -> str:
    """Who is named, or else the first conductor of the session. Raises UnknownSession."""
    if conductor_id is not None:
        return conductor_id
    return (await platform.sessions.get(session_id)).head.conductors[0]


async def with_nearest(platform: Platform, unknown: UnknownSession) -> Refused:
    """What is answered where a session is named that there is not."""
    near = await nearest_sessions(platform.sessions, str(unknown.fields.get("session", "")))
    hint = f"nearest: {', '.join(near)}; {_HINT}" if near else _HINT
    return Refused(unknown.code, str(unknown), hint=hint)
