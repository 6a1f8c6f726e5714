"""Processes that do the work of one session while a command watches it and nobody else does."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Self

from control_plane import Disconnected, LivingHost, host_signs
from dcf.cli.agents_home import demand_agents_home
from dcf.cli.background import BackgroundFolder
from dcf.cli.crew import Crew
from dcf.cli.model_check import demand_models
from dcf.cli.screen import Screen
from dcf.cli.session.opening import Desk
from dcf.cli.stub_server import StubServer
from dcf.sessions import Session
from dcf.stopping import stop
from dcf.workflow import live_workers

_LOOK_S = 0.5
_PATIENCE_S = 3.0


class Attendants:
    """Hires a companion host when companions of the session are served by nobody, and a worker when
    a workflow waits and no worker reads its pool. They end with the block.

    A host that lives is given a moment: it may be full, or just about to take the companion.
    """

    def __init__(self, desk: Desk, session_id: str, screen: Screen) -> None:
        self._desk = desk
        self._session_id = session_id
        self._screen = screen
        self._crew = Crew(desk.settings, redis_url=desk.address.url)
        self._host: str | None = None
        self._unserved_since: float | None = None
        self._stub_asked = False
        self._watching: asyncio.Task[None] | None = None
        self._owner: asyncio.Task[Any]

    async def __aenter__(self) -> Self:
        owner = asyncio.current_task()
        assert owner is not None
        self._owner = owner
        demand_models(self._desk.settings)
        await demand_agents_home(self._desk.settings)
        await self.look(await self._desk.get(self._session_id))
        self._watching = asyncio.create_task(self._watch())
        self._watching.add_done_callback(self._interrupt)
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        watching = self._watching
        assert watching is not None
        broken = watching.exception() if watching.done() and not watching.cancelled() else None
        await stop(watching)
        if self.own:
            with self._screen.working("what is in work is finished or given back …"):
                await self._crew.dismiss()
        if broken is not None:
            self._owner.uncancel()
            raise broken

    @property
    def own(self) -> list[str]:
        """The processes of this command that run."""
        return self._crew.living

    async def look(self, session: Session) -> None:
        """Hire what is missing."""
        if await self._lacks_host(session):
            await self._ensure_stub()
            self._host = self._crew.hire_host(session.session_id)
        if await self._lacks_worker(session):
            await self._ensure_stub()
            self._crew.hire(1)

    def _interrupt(self, watching: asyncio.Task[None]) -> None:
        """End what is watched, when nothing can be hired for it."""
        if not watching.cancelled() and watching.exception() is not None:
            self._owner.cancel()

    async def _lacks_host(self, session: Session) -> bool:
        if self._host in self.own or session.is_over:
            return False
        ours = [one.companion_id for one in session.companions.values() if not one.external]
        now, ends = await self._desk.sessions.seated(ours, session.session_id)
        if all(ends.get(one, 0) > now for one in ours):
            self._unserved_since = None
            return False
        if self._unserved_since is None:
            self._unserved_since = time.monotonic()
        waits_s = time.monotonic() - self._unserved_since
        return not await self._hosts() or waits_s > _PATIENCE_S

    async def _hosts(self) -> list[LivingHost]:
        """Those that serve this session."""
        hosts = await host_signs.living_hosts(self._desk.sessions.backend)
        return [one for one in hosts if one.session_id in (None, self._session_id)]

    async def _lacks_worker(self, session: Session) -> bool:
        if not any(task.kind == "workflow" for task in session.open_tasks):
            return False
        workers = set(self.own) - {self._host}
        return not workers and not await live_workers(self._desk.sessions.store)

    async def _ensure_stub(self) -> None:
        """The stub server, where the skills have one: tasks may call it."""
        settings = self._desk.settings
        if self._stub_asked or not settings.stub_config.is_file():
            return
        self._stub_asked = True
        stub = StubServer(settings, BackgroundFolder(settings.notes, settings.logs))
        with self._screen.working("stub tool server …"):
            await stub.ensure()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                session = await self._desk.sessions.get(self._session_id)
                await self.look(session)
                if session.open_tasks and not await self._hosts():
                    # Hosts would: the ends of workflows, and of what is cancelled, are written so.
                    await self._desk.sessions.tick(self._session_id)
            except Disconnected:
                # Whoever looks at the session says so.
                continue
