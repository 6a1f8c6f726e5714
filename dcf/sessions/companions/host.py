"""A companion host: takes the seats of companions that nobody serves, does their tasks, and looks
after sessions that are due.

Hosts are equal and know nothing of each other. What one of them leaves behind when it dies is taken
by the others: seats end, leases end, sessions come due again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from control_plane import (
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    UnknownSession,
    WrongType,
    claims,
    host_signs,
    keys,
)
from dcf.memory import MemoryProblem
from dcf.sessions.companions.agents import CompanionAgents
from dcf.sessions.companions.inboxes import Inboxes
from dcf.sessions.companions.roster import Roster, Served
from dcf.sessions.due import tick_due
from dcf.sessions.errors import SessionProblem
from dcf.sessions.seat import SEAT_MS, agent_of, inbox_of, seat_of, whose
from dcf.sessions.sessions import Sessions
from dcf.stopping import stop
from dcf.worker import Worker
from dcf.workflow import WorkflowError

log = logging.getLogger(__name__)

_KEEP_S = 5.0
_AT_ONCE = 16
_CLEAN_UP_S = 600.0


@dataclass(frozen=True, slots=True)
class HostConfig:
    """At most ``most`` companions; with ``session_id`` those of that session alone. It looks for
    seats, and for sessions that are due, every ``look_s`` seconds."""

    most: int = 200
    session_id: str | None = None
    look_s: float = 0.25


class CompanionHost:
    """One host. ``worker`` does the work of its ``roster``; ``clean_up``, where there is one, is
    called every ten minutes or so and removes what sessions left behind. ``now`` is a monotonic
    clock in seconds."""

    def __init__(
        self,
        sessions: Sessions,
        roster: Roster,
        inboxes: Inboxes,
        agents: CompanionAgents | None,
        worker: Worker,
        *,
        config: HostConfig | None = None,
        clean_up: Callable[[], Awaitable[object]] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config or HostConfig()
        self._now = now
        self._sessions = sessions
        self._roster = roster
        self._inboxes = inboxes
        self._agents = agents
        self._worker = worker
        self._clean_up = clean_up
        self._backend = sessions.backend

    @property
    def name(self) -> str:
        return self._worker.name

    @property
    def busy(self) -> int:
        """How many tasks are in work."""
        return self._worker.busy

    @property
    def held(self) -> list[str]:
        """The tasks in work."""
        return self._worker.held

    def drain(self) -> None:
        """Take nothing more; ``run`` returns when what is in work is done or given back."""
        self._worker.drain()

    async def run(self) -> None:
        """Serve until ``drain``, then give all seats back."""
        loops = [
            asyncio.create_task(self._for_ever(one, every))
            for one, every in (
                (self.take_seats, self.config.look_s),
                (self.look, self.config.look_s),
                (self.keep_seats, _KEEP_S),
                (self.give_sign, _KEEP_S),
            )
        ]
        if self._clean_up is not None:
            loops.append(asyncio.create_task(self._for_ever(self._clean_up, _CLEAN_UP_S)))
        work = asyncio.create_task(self._worker.run())
        try:
            await asyncio.wait([work, *loops], return_when=asyncio.FIRST_COMPLETED)
            for loop in loops:
                if loop.done():
                    # A defect: a host that no longer keeps its seats must not look alive.
                    loop.result()
            await work
        finally:
            await stop(work, *loops)
        await self._give_back()

    async def take_seats(self) -> None:
        """Serve companions that nobody serves, as far as there is room."""
        if self._worker.is_draining:
            return
        room = min(self.config.most - len(self._roster), _AT_ONCE)
        if room <= 0:
            return
        of = await self._of_session()
        claimed = await claims.claim(self._backend, keys.COMPANIONS, room, of=of)
        await asyncio.gather(*(self._take(seat) for seat in claimed.members))

    async def look(self) -> None:
        """Tick sessions that are due."""
        if self._worker.is_draining:
            return
        of = [self.config.session_id] if self.config.session_id else None
        await tick_due(self._sessions, of=of)

    async def keep_seats(self) -> None:
        """Keep the seats of those served here; leave who is gone, or was lost meanwhile."""
        now = self._now()
        lapsed = [one for one in self._roster.all if now - one.kept_at > SEAT_MS / 1000]
        for served in lapsed:
            # Somebody else may have it by now. If not, its seat is due, and taken anew.
            log.warning("the seat of %s ended", served.companion.companion_id)
            await self._leave(served)
        there = self._roster.all
        kept = await claims.keep(
            self._backend, keys.COMPANIONS, [one.seat for one in there], SEAT_MS
        )
        for served in there:
            if served.seat in kept:
                served.kept_at = now
            else:
                await self._leave(served)
                await self._forget(served.session_id, served.companion.companion_id)

    async def give_sign(self) -> None:
        """Say that this host lives."""
        await host_signs.give_sign(self._backend, self.name, self.config.session_id)

    # -- one companion ----------------------------------------------------------------------------

    async def _take(self, seat: str) -> None:
        session_id, companion_id = whose(seat)
        at = self._now()
        served: Served | None = None
        try:
            session = await self._sessions.get(session_id)
            companion = session.companions.get(companion_id)
            known = self._roster.of(agent_of(session_id, companion_id))
            if known is not None:
                known.kept_at = at
            elif companion is not None:
                served = Served(session_id, companion, kept_at=at)
                # Its inbox is read before anybody can give it a task.
                self._roster.add(served)
                await self._inboxes.add(served.inbox)
            if companion is not None and await self._sessions.take_seat(session_id, companion_id):
                return
        except UnknownSession:
            log.info("%s: there is no session %s any more", companion_id, session_id)
        except (ControlPlaneError, SessionProblem, WorkflowError) as error:
            # The claim ends by itself.
            log.warning("cannot serve %s: %s", companion_id, error)
            if served is not None:
                await self._leave(served)
            return
        if served is not None:
            await self._leave(served)
        await claims.drop(self._backend, keys.COMPANIONS, [seat])
        await self._forget(session_id, companion_id)

    async def _leave(self, served: Served) -> None:
        """Serve a companion no more. What it does goes on as long as it has its lease."""
        self._roster.remove(served)
        try:
            await self._inboxes.remove(served.inbox)
        except ControlPlaneError as error:
            log.warning("cannot leave %s: %s", served.inbox, error)

    async def _forget(self, session_id: str, companion_id: str) -> None:
        """Remove what is left of a companion that is in its session no more."""
        await self._backend.command("DEL", keys.queue(inbox_of(session_id, companion_id)))
        if self._agents is None:
            return
        try:
            await self._agents.remove(agent_of(session_id, companion_id))
        except MemoryProblem as problem:
            # An orphan then, found by the next clean-up.
            log.warning("the agent of %s stays for now: %s", companion_id, problem)

    async def _give_back(self) -> None:
        """Let other hosts take the seats at once."""
        seats = [served.seat for served in self._roster.all]
        await self._inboxes.leave(self._sessions.store)
        try:
            await claims.keep(self._backend, keys.COMPANIONS, seats, 0)
            await host_signs.sign_off(self._backend, self.name, self.config.session_id)
        except ControlPlaneError as error:
            log.warning("seats are not given back, they end by themselves: %s", error)

    # -- loops ------------------------------------------------------------------------------------

    async def _for_ever(self, step: Callable[[], Awaitable[object]], every_s: float) -> None:
        while True:
            try:
                await step()
            except Disconnected as error:
                self._worker.outage.seen(error)
            except (RefusedForGood, WrongType):
                raise
            except (ControlPlaneError, MemoryProblem) as error:
                log.warning("%s: %s; trying again", self.name, error)
            await asyncio.sleep(every_s)

    async def _of_session(self) -> list[str] | None:
        """The seats that may be taken; None for all there are."""
        session_id = self.config.session_id
        if session_id is None:
            return None
        companions: Iterable[str] = (await self._sessions.get(session_id)).companions
        return [seat_of(session_id, one) for one in companions]
