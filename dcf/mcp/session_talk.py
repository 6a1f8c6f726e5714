"""Talking to the conductor of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dcf.mcp.conductors import Conducting, conductor_for
from dcf.mcp.platform import Platform
from dcf.sessions.conductor import Reply

_LOOK_S = 0.2


async def talk(
    platform: Platform,
    session_id: str,
    message: str,
    *,
    request_id: str | None = None,
    wait_s: float = 0.0,
) -> dict[str, Any]:
    """What the conductor answers to ``message``, and, within ``wait_s`` seconds, what it says when
    results come. Without a message: what came since, as soon as anything did. Raises
    UnknownSession, SessionProblem."""
    conductor = await conductor_for(platform, session_id)
    said: list[Reply] = []
    request = request_id or ""
    asks = bool(message.strip())
    if asks:
        said.append(await conductor.turn(session_id, message, request_id=request_id))
        request = said[0].request
    said += await conductor.attend(session_id)
    loop = asyncio.get_running_loop()
    until = loop.time() + wait_s
    while (asks or not said) and (left := until - loop.time()) > 0:
        last = await _last(conductor, session_id, request, said)
        if last is not None:
            said += [] if last in said else [last]
            break
        stands = await _stands(platform, session_id, request)
        news = await conductor.attend(session_id)
        said += news
        if stands and not news:
            break
        await asyncio.sleep(min(_LOOK_S, left))
    return await _told(platform, session_id, request, said)


async def _last(
    conductor: Conducting, session_id: str, request: str, said: Sequence[Reply]
) -> Reply | None:
    """The last word on the request, also where another attended to it."""
    found = next((one for one in said if one.request == request and one.is_last), None)
    if found is None and request:
        found = await conductor.answer(session_id, request)
    return found


async def _stands(platform: Platform, session_id: str, request: str) -> bool:
    """Whether nothing of the request goes on any more until somebody says something."""
    session = await platform.sessions.get(session_id)
    tasks = [task for task in session.open_tasks if request in ("", task.request)]
    if session.state == "paused":
        tasks = [task for task in tasks if task.status == "assigned"]
    return not tasks


async def _told(
    platform: Platform, session_id: str, request: str, said: Sequence[Reply]
) -> dict[str, Any]:
    session = await platform.sessions.get(session_id)
    rows = {row.task_id or f"#{row.number}": row.to_json() for one in said for row in one.rows}
    return {
        "status": "answered" if said else "nothing_new",
        "session_id": session_id,
        "request": request,
        "text": "\n\n".join(one.text for one in said if one.text),
        "task_ids": list(dict.fromkeys(task for one in said for task in one.task_ids)),
        "rows": list(rows.values()),
        "questions": list(dict.fromkeys(asked for one in said for asked in one.questions)),
        "fired": [one.to_json() for reply in said for one in reply.fired],
        "open_tasks": [task.task_id for task in session.open_tasks],
    }
