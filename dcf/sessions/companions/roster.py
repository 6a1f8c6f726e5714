"""Who is served by this process, and whose turn it is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from control_plane import ControlPlaneError, Hint
from dcf.sessions.companion import Companion
from dcf.sessions.errors import SessionProblem
from dcf.sessions.seat import agent_of, inbox_of, seat_of
from dcf.sessions.sessions import Sessions
from dcf.sessions.tick import settle
from dcf.workflow import WorkflowError

log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Served:
    """A companion that is served here. ``kept_at`` is when its seat was last kept (s, by the clock
    of its host); ``lock`` is held while it works."""

    session_id: str
    companion: Companion
    kept_at: float
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task_id: str | None = None

    @property
    def seat(self) -> str:
        return seat_of(self.session_id, self.companion.companion_id)

    @property
    def inbox(self) -> str:
        return inbox_of(self.session_id, self.companion.companion_id)

    @property
    def agent_name(self) -> str:
        """What it is called where no session is said."""
        return agent_of(self.session_id, self.companion.companion_id)


class Roster:
    """The companions that are served here, by inbox and by the names of their agents."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._by_inbox: dict[str, Served] = {}
        self._by_name: dict[str, Served] = {}

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def all(self) -> list[Served]:
        return list(self._by_name.values())

    def add(self, served: Served) -> None:
        self._by_inbox[served.inbox] = served
        self._by_name[served.agent_name] = served

    def remove(self, served: Served) -> None:
        self._by_inbox.pop(served.inbox, None)
        self._by_name.pop(served.agent_name, None)

    def of(self, agent_name: str) -> Served | None:
        return self._by_name.get(agent_name)

    @asynccontextmanager
    async def turn(self, hint: Hint) -> AsyncIterator[str | None]:
        """The agent that does what ``hint`` says, once it does nothing else; None when it is not
        served here any more. What it did is settled at the end."""
        served = self._by_inbox.get(hint.pool)
        if served is None:
            yield None
            return
        async with served.lock:
            served.task_id = hint.workflow_id
            try:
                yield served.agent_name
            finally:
                served.task_id = None
        await self.settle(served, hint.workflow_id)

    async def ended(self, workflow_id: str) -> None:
        """A run was sealed here. If it is a task of a companion that is served here, and ended by
        other ways than its work, it is settled."""
        try:
            run = await self._sessions.store.run(workflow_id)
        except ControlPlaneError:
            # Removed meanwhile, or Redis is away: the tick of the session finds what is left.
            return
        served = self._by_inbox.get(run.pool)
        if served is not None and served.task_id != workflow_id:
            await self.settle(served, workflow_id)

    async def settle(self, served: Served, task_id: str) -> None:
        """Write the end of a task at once. The session's tick does it where this cannot."""
        try:
            await settle(self._sessions, served.session_id, task_id)
        except (ControlPlaneError, SessionProblem, WorkflowError) as error:
            log.warning("task %s is settled later: %s", task_id, error)
