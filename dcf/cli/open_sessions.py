"""How many sessions go on, and how many tasks are in work or wait in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from control_plane import RedisBackend, SessionStore, keys
from dcf.cli.health import ask_redis
from dcf.cli.settings import Settings

_MOST = 1_000


@dataclass(frozen=True, slots=True)
class OpenSessions:
    """``open`` sessions; ``working`` and ``waiting`` tasks in the first thousand of them."""

    open: int
    working: int
    waiting: int


async def read_sessions(settings: Settings) -> OpenSessions:
    """Raises NotSo where Redis does not answer; a look does not start it."""
    return await ask_redis(settings, _read)


async def _read(backend: RedisBackend) -> OpenSessions:
    records = SessionStore(backend)
    found: Counter[str] = Counter()
    open_sessions = int(await backend.command("ZCARD", keys.SESSIONS_DUE))
    for session_id in await backend.command("ZRANGE", keys.SESSIONS_DUE, 0, _MOST - 1):
        document = await records.get(session_id, ("tasks",))
        for task in (document.record["tasks"] if document is not None else {}).values():
            # What is left out is as it was at first.
            found["group" if task.get("kind") == "group" else task.get("status", "queued")] += 1
    return OpenSessions(open_sessions, found["assigned"], found["queued"])
