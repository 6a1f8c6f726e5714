"""Looking at the sessions that are due: deadlines, companions that nobody serves, ends of runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from control_plane import ControlPlaneError, UnknownSession, claims, keys
from dcf.sessions.errors import SessionProblem
from dcf.sessions.sessions import Sessions
from dcf.workflow import WorkflowError

log = logging.getLogger(__name__)

_AT_ONCE = 16
_EVERY_S = 1.0


async def tick_due(sessions: Sessions, *, of: Sequence[str] | None = None) -> None:
    """Tick sessions that are due, with ``of`` none but these. Of several processes that do this
    each session is looked at by one. Raises ControlPlaneError."""
    due = await claims.claim(sessions.backend, keys.SESSIONS_DUE, _AT_ONCE, of=of)
    await asyncio.gather(*(_tick(sessions, session_id) for session_id in due.members))


async def tick_for_ever(sessions: Sessions) -> None:
    """``tick_due``, again and again."""
    while True:
        try:
            await tick_due(sessions)
        except ControlPlaneError as error:
            log.warning("sessions are looked at later: %s", error)
        await asyncio.sleep(_EVERY_S)


async def _tick(sessions: Sessions, session_id: str) -> None:
    try:
        await sessions.tick(session_id)
    except UnknownSession:
        await claims.drop(sessions.backend, keys.SESSIONS_DUE, [session_id])
    except (ControlPlaneError, SessionProblem, WorkflowError) as error:
        # Others are due too; this one is looked at again when its claim ends.
        log.warning("session %s is looked at later: %s", session_id, error)
