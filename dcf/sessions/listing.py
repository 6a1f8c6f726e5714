"""Which sessions there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches

from dcf.sessions.session import Head, SessionState
from dcf.sessions.sessions import Sessions

_MOST_NAMES = 500
_BATCH = 50


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a listing."""

    session_id: str
    updated_at: int
    head: Head


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Some sessions, the newest first; ``before`` continues the listing, None at its end."""

    rows: tuple[SessionRow, ...]
    before: int | None


async def newest_sessions(
    sessions: Sessions,
    limit: int,
    *,
    before: int | None = None,
    states: Collection[SessionState] = (),
) -> SessionRows:
    """Up to ``limit`` sessions, those in ``states`` if any are named."""
    rows: list[SessionRow] = []
    while True:
        found = await _newest(sessions, _BATCH, before)
        for session_id, place in found:
            before = place
            document = await sessions.records.get(session_id, ("session",))
            if document is None:
                continue
            head = Head.parse(document.record["session"])
            if not states or head.state in states:
                rows.append(SessionRow(session_id, document.updated_at, head))
                if len(rows) == limit:
                    return SessionRows(tuple(rows), before)
        if len(found) < _BATCH:
            return SessionRows(tuple(rows), None)


async def nearest_sessions(sessions: Sessions, session_id: str) -> tuple[str, ...]:
    """Those of the newest sessions whose ids are most like ``session_id``."""
    known = [name for name, _ in await _newest(sessions, _MOST_NAMES, None)]
    return tuple(get_close_matches(session_id, known, n=3, cutoff=0.5))


async def _newest(sessions: Sessions, limit: int, before: int | None) -> list[tuple[str, int]]:
    """Ids with their places, which count up from the oldest."""
    index = sessions.records.keys("any").index
    start = "+inf" if before is None else f"({before}"
    flat = await sessions.backend.command(
        "ZRANGE", index, start, "-inf", "BYSCORE", "REV", "LIMIT", 0, limit, "WITHSCORES"
    )
    return [
        (str(name), int(float(score))) for name, score in zip(flat[::2], flat[1::2], strict=True)
    ]
