"""Companion hosts on a real Redis, in this process, wired as a process of them is."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from control_plane import RedisBackend, Store
from dcf.sessions import NewCompanion, Sessions, SessionTask
from dcf.sessions.companions import CompanionAgents, CompanionHost, HostConfig, Inboxes, Roster
from dcf.worker import KeeperThread, Performer, Worker, WorkerConfig
from dcf.workflow import Choreographer, Outcome, Task

ME = "conductor-1"
Does = Callable[[Task], Awaitable[Outcome]]


class Doing:
    """Performs tasks with a function, and keeps (companion, task) of each beginning."""

    def __init__(self, does: Does) -> None:
        self._does = does
        self.begun: list[tuple[str, str]] = []

    async def perform(self, task: Task, _beat: object) -> Outcome:
        self.begun.append((task.lease.owner, task.lease.workflow_id))
        return await self._does(task)


class Hosts:
    """Sessions, and hosts that leave when the block ends."""

    def __init__(self, url: str, stack: AsyncExitStack) -> None:
        self.url = url
        self._stack = stack
        self.sessions = Sessions(self.open_store())
        self._work: dict[CompanionHost, asyncio.Task[None]] = {}
        self._inboxes: dict[CompanionHost, Inboxes] = {}

    def open_store(self) -> Store:
        return Store(self._backend())

    def _backend(self) -> RedisBackend:
        backend = RedisBackend.from_url(self.url)
        self._stack.push_async_callback(backend.close)
        return backend

    def host(
        self,
        agents: Any,
        *,
        name: str = "h1",
        most: int = 50,
        remembering: Callable[[Sessions, Roster], tuple[CompanionAgents, Any]] | None = None,
        **config: Any,
    ) -> CompanionHost:
        """A host at work, with ``agents`` that perform, or companions that remember and what
        performs with them."""
        store = self.open_store()
        sessions = Sessions(store)
        roster = Roster(sessions)
        inboxes = Inboxes(self._backend, consumer=name)
        companions = None
        if remembering is not None:
            companions, agents = remembering(sessions, roster)
        thread = KeeperThread(lambda: Store(RedisBackend.from_url(self.url)))
        worker = Worker(
            name,
            store,
            inboxes,
            self._stack.enter_context(thread).keeper,
            Choreographer(store, rng=random.Random(1)),
            Performer(agents=agents),
            now=time.monotonic,
            config=WorkerConfig(concurrency=most, **config),
            turn=roster.turn,
        )
        host = CompanionHost(
            sessions, roster, inboxes, companions, worker, config=HostConfig(most=most)
        )
        self._work[host] = asyncio.create_task(host.run())
        self._inboxes[host] = inboxes
        self._stack.push_async_callback(inboxes.close)
        self._stack.push_async_callback(self.end, host)
        return host

    async def at_work(self, host: CompanionHost) -> None:
        """Until the host ends; raises what ended it."""
        await self._work[host]

    async def end(self, host: CompanionHost) -> None:
        if not self._work[host].done():
            host.drain()
            await self._work[host]

    async def kill(self, host: CompanionHost) -> None:
        """``host`` dies: nothing is given back, neither tasks nor seats."""
        self._work[host].cancel()
        await asyncio.wait([self._work[host]])
        # Or they would take hints that nobody does.
        await self._inboxes[host].close()

    async def employ(self, session_id: str, *names: str, **fields: Any) -> None:
        for name in names:
            await self.sessions.employ(session_id, NewCompanion(ME, name=name, **fields))

    async def seated(self, session_id: str, count: int) -> None:
        async with asyncio.timeout(20):
            while True:
                session = await self.sessions.get(session_id)
                if sum(one.seated_at is not None for one in session.companions.values()) >= count:
                    return
                await asyncio.sleep(0.02)

    async def closed(self, session_id: str, task_id: str, longest_s: float = 20) -> SessionTask:
        async with asyncio.timeout(longest_s):
            while True:
                task = await self.sessions.task(session_id, task_id)
                if not task.is_open:
                    return task
                await asyncio.sleep(0.02)


@asynccontextmanager
async def hosts_on(url: str) -> AsyncIterator[Hosts]:
    async with AsyncExitStack() as stack:
        yield Hosts(url, stack)
