"""Whose turn it is to speak for the conductor of a session: one process at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from control_plane import Backend, ControlPlaneError, claims, keys
from dcf.agents import meanwhile

log = logging.getLogger(__name__)

_KEEP_S = 5.0
_LOOK_S = 0.1


@asynccontextmanager
async def turn_in(backend: Backend, session_id: str, *, wait: bool) -> AsyncIterator[bool]:
    """Whether the turn is the caller's, as long as the block lasts; with ``wait`` it is, once the
    others are done. Of a process that dies it ends by itself, ``claims.CLAIM_MS`` later."""
    mine = await _claimed(backend, session_id)
    while wait and not mine:
        await asyncio.sleep(_LOOK_S)
        mine = await _claimed(backend, session_id)
    if not mine:
        yield False
        return
    try:
        async with meanwhile(_keep(backend, session_id)):
            yield True
    finally:
        await claims.drop(backend, keys.CONDUCTED, [session_id])


async def _claimed(backend: Backend, session_id: str) -> bool:
    await claims.offer(backend, keys.CONDUCTED, session_id, 0)
    found = await claims.claim(backend, keys.CONDUCTED, 1, of=[session_id])
    return session_id in found.members


async def _keep(backend: Backend, session_id: str) -> None:
    while True:
        await asyncio.sleep(_KEEP_S)
        try:
            await claims.keep(backend, keys.CONDUCTED, [session_id], claims.CLAIM_MS)
        except ControlPlaneError as error:
            log.warning("the turn in session %s may go to another process: %s", session_id, error)
