"""``dcf explain`` of a session, or of a task that has no run yet."""

from __future__ import annotations

from contextlib import suppress

from control_plane import BadName, RunDocument, Store, UnknownSession
from control_plane.embedded import Address
from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.session.board import SessionBoard, read_board
from dcf.cli.session.opening import Desk, open_desk
from dcf.cli.session.tables import TaskTable, heading
from dcf.cli.session.task import task_answer
from dcf.cli.settings import Settings
from dcf.sessions import (
    Session,
    Sessions,
    SessionTask,
    UnknownTask,
    session_of_run,
    sessions_of_task,
)


async def explain_session(session_id: str, settings: Settings, screen: Screen) -> Answer:
    """Why the session stands as it does. Raises NoSuch, BadName."""
    async with open_desk(settings, screen) as desk:
        return await _explain(desk.sessions, await desk.get(session_id))


async def explain_in_sessions(
    store: Store, wanted: str, settings: Settings, address: Address
) -> Answer | None:
    """Why the session called ``wanted`` stands as it does, or the task; None when there is neither.
    A task that has no run is looked for in the newest sessions."""
    desk = Desk(Sessions(store), settings, address)
    # What cannot be the name of a session is none either.
    with suppress(UnknownSession, BadName):
        return await _explain(desk.sessions, await desk.sessions.get(wanted))
    for session_id in await sessions_of_task(desk.sessions, wanted):
        return await task_answer(desk, session_id, wanted)
    return None


async def task_of_run(store: Store, run: RunDocument) -> tuple[str, SessionTask] | None:
    """The session and the task that the run is the work of; None where it is of none."""
    session_id = session_of_run(run)
    if session_id is None:
        return None
    try:
        return session_id, await Sessions(store).task(session_id, run.workflow_id)
    except (UnknownSession, UnknownTask):
        return None


async def _explain(sessions: Sessions, session: Session) -> Answer:
    board = await read_board(sessions, session, session.open_tasks)
    waits = [row for row in board.rows if row.found]
    summary = _summary(board)
    fields = {
        "session_id": session.session_id,
        "session_state": session.state,
        "summary": summary,
        "reason": session.head.reason,
        "tasks": [row.to_json() for row in board.rows],
        "hints": _hints(session, bool(waits), bool(board.unserved)),
    }
    shown = [TaskTable(board)] if board.rows else [heading(board)]
    return Answer(fields, [summary, *shown, *_hints(session, bool(waits), bool(board.unserved))])


def _summary(board: SessionBoard) -> str:
    session = board.session
    if session.is_over:
        why = f": {session.head.reason}" if session.head.reason else ""
        return f"session {session.session_id} is {session.state}{why}"
    if not board.rows:
        return f"session {session.session_id} is {session.state}; nothing is open in it"
    return f"session {session.session_id} is {session.state}; {board.gist}"


def _hints(session: Session, waits: bool, unserved: bool) -> list[str]:
    """What would help."""
    found = []
    if session.state == "paused":
        found.append(f"`dcf session resume {session.session_id}` goes on")
    if waits and not session.companions:
        found.append(f"`dcf session hire {session.session_id}` makes a companion")
    if unserved:
        found.append("`dcf up --companions 1` serves companions")
    return found
