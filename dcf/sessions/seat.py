"""Seats: that somebody serves a companion."""

from __future__ import annotations

from dcf.knowledge import COMPANION_POOL

SEAT_MS = 15_000
"""How long a seat lasts unless it is kept, in ms."""
GRACE_MS = 5_000
"""How long after its seat ended a companion is lost, in ms."""


def seat_of(session_id: str, companion_id: str) -> str:
    """The member of the zset of seats."""
    return f"{session_id}/{companion_id}"


def whose(seat: str) -> tuple[str, str]:
    """Session and companion of a seat."""
    session_id, _, companion_id = seat.partition("/")
    return session_id, companion_id


def agent_of(session_id: str, companion_id: str) -> str:
    """What a companion is called where no session is said: as an agent in memory, as the holder of
    leases and of skills, in the graph. Other sessions may have companions with its id."""
    return f"{session_id}.{companion_id}"


def inbox_of(session_id: str, companion_id: str) -> str:
    """The pool of a companion's tasks."""
    return COMPANION_POOL + agent_of(session_id, companion_id)
