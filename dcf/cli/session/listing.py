"""``dcf session list``, ``tasks`` and ``companions``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from dcf.cli.answer import Answer
from dcf.cli.screen import Screen
from dcf.cli.session.board import read_board
from dcf.cli.session.opening import open_desk
from dcf.cli.session.serving import who_serves
from dcf.cli.session.tables import CompanionTable, TaskTable, heading, session_table
from dcf.cli.settings import Settings
from dcf.sessions import Companion, Head, Session, SessionState, newest_sessions
from dcf.workflow import iso


async def list_sessions(
    settings: Settings, screen: Screen, limit: int, state: SessionState | None
) -> Answer:
    """The newest sessions, of one ``state`` if that is given."""
    async with open_desk(settings, screen) as desk:
        found = await newest_sessions(
            desk.sessions, limit, states=() if state is None else (state,)
        )
    began = [(row, _local(row.head.created_at)) for row in found.rows]
    show = [session_table(began)] if found.rows else [_NONE]
    return Answer({"sessions": [_head(row.session_id, row.head) for row in found.rows]}, show)


_NONE = "No sessions: `dcf session start --objective …` begins one."


async def list_tasks(
    session_id: str, settings: Settings, screen: Screen, *, everything: bool
) -> Answer:
    """The tasks that are open or were closed lately; ``everything`` are all there ever were."""
    async with open_desk(settings, screen) as desk:
        session = await desk.get(session_id)
        tasks = await desk.sessions.tasks(session_id) if everything else None
        board = await read_board(desk.sessions, session, tasks)
        unserved = await who_serves(desk, board)
    fields = {
        **_session(session),
        "tasks": [row.to_json() for row in board.rows],
    }
    show: list[Any] = [TaskTable(board)] if board.rows else [heading(board)]
    return Answer(fields, [*show, *([unserved] if unserved else [])], session.state)


async def list_companions(
    session_id: str, settings: Settings, screen: Screen, *, former: bool
) -> Answer:
    """The companions of a session; ``former`` are those that left it too."""
    async with open_desk(settings, screen) as desk:
        session = await desk.get(session_id)
        shown = [*session.companions.values(), *(session.former.values() if former else ())]
        now, ends = await desk.sessions.seated(tuple(session.companions), session_id)
    served = frozenset(one for one, end in ends.items() if end > now)
    fields = {
        "session_id": session_id,
        "companions": [_companion(one, served) for one in shown],
    }
    none = f"No companions: `dcf session hire {session_id}` makes one."
    show = [CompanionTable(shown, now, served)] if shown else [none]
    return Answer(fields, show, session.state)


def _session(session: Session) -> dict[str, Any]:
    return {
        **_head(session.session_id, session.head),
        "companion_ids": list(session.companions),
        "open_tasks": len(session.open_tasks),
        "revision": session.revision,
    }


def _head(session_id: str, head: Head) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "state": head.state,
        "objective": head.objective,
        "conductors": list(head.conductors),
        "created_at": iso(head.created_at),
        "ended_at": iso(head.ended_at) if head.ended_at else None,
        "reason": head.reason,
        "counts": {
            "delegated": head.counts.delegated,
            "succeeded": head.counts.succeeded,
            "failed": head.counts.failed,
            "partial": head.counts.partial,
            "cancelled": head.counts.cancelled,
        },
    }


def _companion(one: Companion, served: frozenset[str]) -> dict[str, Any]:
    return {
        "companion_id": one.companion_id,
        "specialization": one.specialization,
        "status": one.status,
        "served": one.companion_id in served,
        "external": one.external,
        "task_id": one.task_id,
        "skills": list(one.skills),
        "succeeded": one.succeeded,
        "failed": one.failed,
        "reason": one.reason,
        "created_at": iso(one.created_at),
        "dismissed_at": iso(one.dismissed_at) if one.dismissed_at else None,
    }


def _local(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
