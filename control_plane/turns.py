"""The turn to speak for the conductor of a session: it is one process's at a time, which shows its
token, and ends by itself when that process dies."""

from __future__ import annotations

from typing import Literal

from control_plane import keys, payload, script
from control_plane.backend import Backend

TURN_MS = 15_000
"""How long a turn lasts unless it is kept, in ms."""


async def take(backend: Backend, session_id: str, token: str) -> bool:
    """Whether the turn is the caller's now; said again with the same ``token`` it still is."""
    return await _do(backend, "take", session_id, token)


async def keep(backend: Backend, session_id: str, token: str) -> bool:
    """Have it ``TURN_MS`` from now; False when it ended, or is another's."""
    return await _do(backend, "keep", session_id, token)


async def leave(backend: Backend, session_id: str, token: str) -> bool:
    """Let others have it; False when it was the caller's no more, and nothing was changed."""
    return await _do(backend, "leave", session_id, token)


async def _do(
    backend: Backend, what: Literal["take", "keep", "leave"], session_id: str, token: str
) -> bool:
    request = payload.to_text({"do": what, "token": token, "ms": TURN_MS})
    return bool(await backend.run(script.load("turn"), [keys.turn(session_id)], [request]))
