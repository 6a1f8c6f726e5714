"""A session under test, and hands that do its tasks."""

from __future__ import annotations

from typing import Any

from worlds import World

from control_plane import Committed, Lease, Refusal, claims, keys, read_record_history
from dcf.sessions import (
    SEAT_MS,
    Companion,
    NewCompanion,
    Order,
    Session,
    Sessions,
    SessionTask,
    inbox_of,
    seat_of,
    settle,
)
from dcf.workflow import External, Outcome, RunCache, Succeeded

ME, ID = "conductor-1", "s1"


class Desk:
    """A session under test, and hands that do its tasks."""

    def __init__(self, world: World, sessions: Sessions | None = None) -> None:
        self.world = world
        self.sessions = sessions or Sessions(world.store())
        self.external = External(self.sessions.store, RunCache(self.sessions.store))

    async def begin(self, *names: str, specialization: str = "generalist") -> Session:
        session = await self.sessions.create(ID, ME, "help people")
        for name in names:
            await self.employ(name, specialization)
        return session

    async def employ(self, name: str, specialization: str = "generalist") -> Companion:
        new = NewCompanion(ME, specialization, name=name)
        made = await self.sessions.employ(ID, new)
        await self.sit(made.companion_id)
        return made

    async def sit(self, *companion_ids: str) -> None:
        """Serve these companions from now on, for as long as a seat lasts."""
        for one in companion_ids:
            await claims.put(
                self.world.backend, keys.COMPANIONS, seat_of(ID, one), self.world.now_ms + SEAT_MS
            )
            await self.sessions.take_seat(ID, one)

    async def delegate(self, **fields: Any) -> SessionTask:
        return await self.sessions.delegate(
            ID, Order(**{"description": "Do it.", "by": ME, **fields})
        )

    async def lease(self, task: SessionTask) -> Lease | Refusal:
        """Lease the task's state as the companion that has it."""
        assert task.companion_id is not None
        store = self.sessions.store_of(inbox_of(ID, task.companion_id))
        return await store.acquire(task.task_id, task.state, owner=task.companion_id, alone="here")

    async def finish(self, lease: Lease, outcome: Outcome | None = None) -> Committed | Refusal:
        outcome = outcome or Succeeded({"n": 1}, "did it")
        return await self.external.finish(lease.workflow_id, lease.path, lease.token, outcome)

    async def do(self, task: SessionTask, outcome: Outcome | None = None) -> SessionTask:
        """Do an assigned task, and settle it."""
        lease = await self.lease(task)
        assert isinstance(lease, Lease), lease
        assert isinstance(await self.finish(lease, outcome), Committed)
        await settle(self.sessions, ID, task.task_id)
        return await self.sessions.task(ID, task.task_id)

    async def events(self, *types: str) -> list[dict[str, Any]]:
        found = [one.event async for one in read_record_history(self.sessions.records, ID)]
        return [event for event in found if event["type"] in types]
