"""What companions left behind whose sessions know nothing of them any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from control_plane import AgentStore, UnknownSession, claims, keys
from dcf.knowledge import COMPANION_POOL
from dcf.sessions.companions.agents import ROLE, remove
from dcf.sessions.seat import agent_of, inbox_of, whose
from dcf.sessions.sessions import Sessions

if TYPE_CHECKING:
    from dcf.agents import AgentRuntime
    from dcf.memory import Agent

_PAGE = 200
_SCAN = 1_000
_SESSION = "session:"


@dataclass(frozen=True, slots=True)
class Orphans:
    """``agents`` in memory (by name), ``seats`` and ``inboxes`` without a companion in a session
    that is not over. ``removed``: whether they are gone now."""

    agents: tuple[str, ...]
    seats: tuple[str, ...]
    inboxes: tuple[str, ...]
    removed: bool


async def cleanup_orphaned_companions(
    sessions: Sessions,
    runtime: AgentRuntime | None = None,
    records: AgentStore | None = None,
    *,
    session_id: str | None = None,
    dry_run: bool = True,
) -> Orphans:
    """Find orphans, of one session if one is named, and remove them unless it is a ``dry_run``."""
    there = _There(sessions)
    # First what companions have, then the sessions: who is employed meanwhile is in its session
    # before it has anything.
    inboxes = await _inboxes(sessions, session_id)
    agents = await _agents(runtime, session_id) if runtime is not None else []
    seats = [
        (key, seat)
        for key in (keys.COMPANIONS, keys.EXTERNAL_COMPANIONS)
        for seat in await sessions.backend.command("ZRANGE", key, 0, -1)
    ]
    lost_seats = []
    seated = set()
    for key, seat in seats:
        of, companion_id = whose(seat)
        if await there.has(of, companion_id):
            seated.add(keys.queue(inbox_of(of, companion_id)))
        elif session_id in (None, of):
            lost_seats.append((key, seat))
    lost_inboxes = sorted(set(inboxes) - seated)
    lost_agents = [one for one in agents if not await there.has(*_whose(one))]
    if not dry_run:
        for key, seat in lost_seats:
            await claims.drop(sessions.backend, key, [seat])
        for stream in lost_inboxes:
            await sessions.backend.command("DEL", stream)
        if runtime is not None:
            for agent in lost_agents:
                await remove(runtime, records, agent.id)
    return Orphans(
        tuple(agent.name for agent in lost_agents),
        tuple(seat for _, seat in lost_seats),
        tuple(lost_inboxes),
        removed=not dry_run,
    )


class _There:
    """Which companions sessions have, each session read once."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._known: dict[str, frozenset[str]] = {}

    async def has(self, session_id: str, companion_id: str) -> bool:
        if session_id not in self._known:
            self._known[session_id] = await self._read(session_id)
        return companion_id in self._known[session_id]

    async def _read(self, session_id: str) -> frozenset[str]:
        try:
            session = await self._sessions.get(session_id)
        except UnknownSession:
            return frozenset()
        return frozenset() if session.is_over else frozenset(session.companions)


async def _agents(runtime: AgentRuntime, session_id: str | None) -> list[Agent]:
    tags = (ROLE,) if session_id is None else (ROLE, _SESSION + session_id)
    found: list[Agent] = []
    while True:
        after = found[-1].name if found else ""
        page = await runtime.list(tags=tags, limit=_PAGE, after=after)
        found += page
        if len(page) < _PAGE:
            # One that no host made says no session.
            return [agent for agent in found if _session_of(agent)]


def _session_of(agent: Agent) -> str:
    found = (tag.removeprefix(_SESSION) for tag in agent.tags if tag.startswith(_SESSION))
    return next(found, "")


def _whose(agent: Agent) -> tuple[str, str]:
    """Session and companion of an agent."""
    session_id = _session_of(agent)
    return session_id, agent.name.removeprefix(agent_of(session_id, ""))


async def _inboxes(sessions: Sessions, session_id: str | None) -> list[str]:
    """The streams of inboxes; of one session those of companions that it had."""
    if session_id is not None:
        try:
            former = (await sessions.get(session_id)).former
        except UnknownSession:
            return []
        streams = [keys.queue(inbox_of(session_id, one)) for one in former]
        return [one for one in streams if await sessions.backend.command("EXISTS", one)]
    found: list[str] = []
    cursor = "0"
    while True:
        cursor, page = await sessions.backend.command(
            "SCAN", cursor, "MATCH", keys.queue(f"{COMPANION_POOL}*"), "COUNT", _SCAN
        )
        found += page
        if str(cursor) == "0":
            return found
