"""``dcf session pause``, ``resume``, ``finalize``, ``join`` and ``cancel``."""

from __future__ import annotations

import asyncio
from typing import Any

from dcf.agents import TaskError
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED
from dcf.cli.screen import Screen
from dcf.cli.session.attendants import Attendants
from dcf.cli.session.conducting import open_conductor
from dcf.cli.session.numbers import task_ids
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.reply_text import show_text
from dcf.cli.settings import Settings
from dcf.cli.wording import counted
from dcf.sessions import Session

_LOOK_S = 0.2


async def pause(session_id: str, reason: str | None, settings: Settings, screen: Screen) -> Answer:
    """Nothing is given to companions any more; what they do goes on."""
    async with open_desk(settings, screen) as desk:
        by = await desk.conductor(session_id)
        session = await desk.sessions.pause(session_id, by=by, reason=reason)
    further = (
        f"`dcf session resume {session_id}` goes on; so would finalize, without --cancel: what "
        "waits is done then"
    )
    return _answer(session, further)


async def resume(session_id: str, settings: Settings, screen: Screen) -> Answer:
    """What waits is given to companions again."""
    async with open_desk(settings, screen) as desk:
        by = await desk.conductor(session_id)
        session = await desk.sessions.resume(session_id, by=by)
    return _answer(session, "what waits is given to companions again")


async def join(session_id: str, agent_id: str, settings: Settings, screen: Screen) -> Answer:
    """Let another agent conduct the session too."""
    async with open_desk(settings, screen) as desk:
        await desk.get(session_id)
        session = await desk.sessions.join(session_id, agent_id)
    return _answer(session, f"conducted by {', '.join(session.head.conductors)}")


async def cancel(
    session_id: str, task_id: str, reason: str | None, settings: Settings, screen: Screen
) -> Answer:
    """Cancel one task, wherever it is."""
    async with open_desk(settings, screen) as desk:
        by = await desk.conductor(session_id)
        [task_id] = await task_ids(desk, session_id, [task_id])
        task = await desk.sessions.cancel(session_id, task_id, by=by, reason=reason)
    said = {"session_id": session_id, "task_id": task_id, "task_status": task.status}
    return Answer(said, [f"{task_id}: {task.status}"])


async def finalize(
    session_id: str,
    settings: Settings,
    screen: Screen,
    *,
    cancel: bool,
    abandon: bool,
    reason: str | None,
    timeout_s: float,
) -> Answer:
    """End the session; waits ``timeout_s`` for what is in work."""
    async with open_desk(settings, screen) as desk:
        before = await desk.get(session_id)
        by = before.head.conductors[0]
        if before.state == "paused" and before.open_tasks and not cancel:
            screen.say(f"{session_id} was paused: what waits in it is done now.")
        session = await desk.sessions.end(
            session_id, by=by, abandon=abandon, cancel=cancel, reason=reason
        )
        if not session.is_over and timeout_s:
            session = await _wait(desk, session, timeout_s, screen)
        if session.is_over:
            summary = await _summary(session_id, settings, screen)
            kept = f"`dcf session archive {session_id}` keeps all of it in a folder"
            return _answer(session, kept, summary=summary)
    left = counted(len(session.open_tasks), "task is", "tasks are")
    hint = (
        f"`dcf session watch {session_id}` waits for them, "
        f"`dcf session finalize {session_id} --cancel` ends them"
    )
    note = ErrorNote("not_over", f"{left} still open; {session_id} ends when they are over", hint)
    return Answer(_fields(session), status=session.state, error=note, exit_code=FAILED)


async def _summary(session_id: str, settings: Settings, screen: Screen) -> str | None:
    """What the conductor says of a session that is over; None where its model does not answer."""
    try:
        async with open_conductor(session_id, settings, screen) as conductor:
            reply = await conductor.finalize(session_id)
    except TaskError as error:
        screen.warn(f"the conductor does not sum it up: {error}")
        return None
    show_text(reply.text, screen)
    return reply.text


async def _wait(desk: Desk, session: Session, timeout_s: float, screen: Screen) -> Session:
    """The session, when what is in work is done, or ``timeout_s`` later."""
    session_id = session.session_id
    try:
        async with Attendants(desk, session_id, screen), asyncio.timeout(timeout_s):
            while not session.is_over:
                await asyncio.sleep(_LOOK_S)
                session = await desk.sessions.tick(session_id)
    except TimeoutError:
        session = await desk.sessions.get(session_id)
    return session


def _fields(session: Session) -> dict[str, Any]:
    counts = session.head.counts
    return {
        "session_id": session.session_id,
        "state": session.state,
        "conductors": list(session.head.conductors),
        "open_tasks": [task.task_id for task in session.open_tasks],
        "counts": {
            "delegated": counts.delegated,
            "succeeded": counts.succeeded,
            "failed": counts.failed,
            "partial": counts.partial,
            "cancelled": counts.cancelled,
        },
    }


def _answer(session: Session, what: str, **more: str | None) -> Answer:
    show = [f"Session {session.session_id} is {session.state}: {what}"]
    return Answer({**_fields(session), **more}, show, session.state)
