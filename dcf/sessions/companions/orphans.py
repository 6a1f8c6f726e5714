"""What companions left behind whose sessions know nothing of them any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from control_plane import AgentStore, UnknownSession, claims, keys
from dcf.sessions.companions.agents import ROLE, remove
from dcf.sessions.companions.outside import forget_outside, outside_records
from dcf.sessions.seat import agent_of, inbox_of, whose
from dcf.sessions.sessions import Sessions

if TYPE_CHECKING:
    from dcf.agents import AgentRuntime
    from dcf.memory import Agent

_PAGE = 200
_SESSION = "session:"


@dataclass(frozen=True, slots=True)
class Orphans:
    """``agents`` (by name; of those from outside the records), ``seats`` and ``inboxes`` without a
    companion in a session that is not over. ``removed``: whether they are gone now."""

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
    agents = await _agents(runtime, session_id) if runtime is not None else []
    seats = [
        (key, seat)
        for key in (keys.COMPANIONS, keys.EXTERNAL_COMPANIONS)
        for seat in await sessions.backend.command("ZRANGE", key, 0, -1)
    ]
    lost_seats = []
    for key, seat in seats:
        of, companion_id = whose(seat)
        if session_id in (None, of) and not await there.has(of, companion_id):
            lost_seats.append((key, seat))
    lost_agents = [one for one in agents if not await there.has(*_whose(one))]
    lost_records: list[str] = []
    if records is not None:
        lost_records = await lost_outside(sessions, records, session_id=session_id)
    lost = [*(whose(seat) for _, seat in lost_seats), *(_whose(one) for one in lost_agents)]
    lost_inboxes = await _inboxes(sessions, session_id, lost)
    if not dry_run:
        # Seats and agents tell of their inboxes: whoever dies in between leaves the clue.
        for stream in lost_inboxes:
            await sessions.backend.command("DEL", stream)
        for key, seat in lost_seats:
            await claims.drop(sessions.backend, key, [seat])
        if runtime is not None:
            for agent in lost_agents:
                await remove(runtime, records, agent.id)
        if records is not None:
            for agent_id in lost_records:
                await forget_outside(records, agent_id)
    return Orphans(
        (*(agent.name for agent in lost_agents), *lost_records),
        tuple(seat for _, seat in lost_seats),
        lost_inboxes,
        removed=not dry_run,
    )


async def lost_outside(
    sessions: Sessions, records: AgentStore, *, session_id: str | None = None
) -> list[str]:
    """Agents that are records of companions from outside, whose sessions are over or know nothing
    of them."""
    found = await outside_records(records, session_id)
    there = _There(sessions)
    return [agent_id for agent_id, of, one in found if not await there.has(of, one)]


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


async def _inboxes(
    sessions: Sessions, session_id: str | None, lost: list[tuple[str, str]]
) -> tuple[str, ...]:
    """The streams of inboxes of those that are ``lost`` (session, companion); of one session also
    those of companions that it had. Nothing is ever scanned for them."""
    if session_id is not None:
        try:
            former = (await sessions.get(session_id)).former
        except UnknownSession:
            former = {}
        lost = [*lost, *((session_id, one) for one in former)]
    streams = sorted({keys.queue(inbox_of(*one)) for one in lost})
    return tuple([one for one in streams if await sessions.backend.command("EXISTS", one)])
