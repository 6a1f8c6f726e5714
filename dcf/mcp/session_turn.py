"""Whose turn it is to speak for the conductor of a session: one process at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import Backend, ControlPlaneError, turns
from dcf.agents import meanwhile
from dcf.problem import ProblemError

log = logging.getLogger(__name__)

_KEEP_S = 5.0
_LOOK_S = 0.1


class TurnLost(ProblemError):
    """Another process speaks for the conductor of session {session_id} now."""

    code = "turn_lost"
    hint = "say it again with the same request_id"


class Turn:
    """The turn of one process. ``limit`` ends what is done in it."""

    def __init__(
        self, backend: Backend, session_id: str, token: str, limit: asyncio.Timeout
    ) -> None:
        self._backend = backend
        self._session_id = session_id
        self._token = token
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._kept_at = self._loop.time()

    async def demand(self) -> None:
        """To be said before anything is written. Raises TurnLost, and ends the turn, when it is
        another's, or was not kept in time."""
        asked_at = self._loop.time()
        if not await turns.keep(self._backend, self._session_id, self._token):
            self._end()
            raise TurnLost(session_id=self._session_id)
        self._kept_at = asked_at

    async def keep(self) -> None:
        """Keep it until it is lost."""
        while True:
            await asyncio.sleep(_KEEP_S)
            try:
                await self.demand()
            except TurnLost:
                return
            except ControlPlaneError as error:
                log.warning("the turn in session %s may be lost: %s", self._session_id, error)
                if 1000 * (self._loop.time() - self._kept_at) > turns.TURN_MS:
                    self._end()
                    return

    def _end(self) -> None:
        if not self._limit.expired():
            self._limit.reschedule(self._loop.time())


@asynccontextmanager
async def turn_in(
    backend: Backend, session_id: str, token: str, *, wait: bool
) -> AsyncIterator[Turn | None]:
    """The turn, the caller's as long as the block lasts; None when another has it, except with
    ``wait``: then it comes when the others are done. ``token`` is unguessable, another each time.
    Of a process that dies it ends by itself, ``turns.TURN_MS`` later. Raises TurnLost."""
    while not await turns.take(backend, session_id, token):
        if not wait:
            yield None
            return
        await asyncio.sleep(_LOOK_S)
    limit = asyncio.timeout(None)
    try:
        async with limit:
            turn = Turn(backend, session_id, token, limit)
            async with meanwhile(turn.keep()):
                yield turn
    except TimeoutError:
        if limit.expired():
            raise TurnLost(session_id=session_id) from None
        raise
    finally:
        await turns.leave(backend, session_id, token)
