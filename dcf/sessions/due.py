"""Looking at the sessions that are due: deadlines, companions that nobody serves, ends of runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from control_plane import ControlPlaneError, UnknownSession, claims, keys
from dcf.sessions.errors import SessionProblem
from dcf.sessions.session import Session
from dcf.sessions.sessions import Sessions
from dcf.workflow import WorkflowError

log = logging.getLogger(__name__)

_AT_ONCE = 16
_EVERY_S = 1.0

Ended = Callable[[Session], Awaitable[None]]


async def tick_due(
    sessions: Sessions, *, of: Sequence[str] | None = None, ended: Ended | None = None
) -> None:
    """Tick sessions that are due, with ``of`` none but these; ``ended`` is told of those that are
    over. Of several processes that do this each session is looked at by one. Raises
    ControlPlaneError."""
    due = await claims.claim(sessions.backend, keys.SESSIONS_DUE, _AT_ONCE, of=of)
    await asyncio.gather(*(_tick(sessions, session_id, ended) for session_id in due.members))


async def tick_for_ever(sessions: Sessions, *, ended: Ended | None = None) -> None:
    """``tick_due``, again and again."""
    while True:
        try:
            await tick_due(sessions, ended=ended)
        except ControlPlaneError as error:
            log.warning("sessions are looked at later: %s", error)
        await asyncio.sleep(_EVERY_S)


async def _tick(sessions: Sessions, session_id: str, ended: Ended | None) -> None:
    try:
        session = await sessions.tick(session_id)
        if session.is_over and ended is not None:
            await ended(session)
    except UnknownSession:
        await claims.drop(sessions.backend, keys.SESSIONS_DUE, [session_id])
    except (ControlPlaneError, SessionProblem, WorkflowError) as error:
        # Others are due too; this one is looked at again when its claim ends.
        log.warning("session %s is looked at later: %s", session_id, error)
    except Exception:
        # A defect that one session brings to light must not take the others with it.
        log.exception("session %s cannot be looked at", session_id)
