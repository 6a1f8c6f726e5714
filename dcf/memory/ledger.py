"""Reading the memory, and changing it so that every change is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from dcf.memory.actor import Actor
from dcf.memory.audit.event import Event
from dcf.memory.audit.journal import Follower, Journal
from dcf.memory.database import Connection, Database, Work
from dcf.memory.ids import Clock, NewId
from dcf.memory.observer import Observer, tell

T = TypeVar("T")


@dataclass(slots=True)
class Ledger:
    """What repositories work with. ``followers`` keep derived tables inside the transaction,
    ``observers`` are called after it. ``allows`` is called first in the transaction of each change,
    and raises to refuse it."""

    database: Database
    clock: Clock
    new_id: NewId
    followers: Sequence[Follower] = ()
    observers: Sequence[Observer] = ()
    allows: Callable[[Connection], object] | None = None
    _running: set[asyncio.Task[object]] = field(default_factory=set)

    def under(self, allows: Callable[[Connection], object]) -> Self:
        """The same one, whose changes are made only where ``allows`` does not raise; it is asked in
        the transaction of each."""
        return replace(self, allows=allows)

    async def read(self, work: Work[T]) -> T:
        """What ``work`` returns, of one moment."""
        return await self.database.read(work)

    async def change(
        self,
        by: Actor,
        work: Callable[[Journal], T],
        *,
        consolidation_id: str | None = None,
    ) -> T:
        """What ``work`` returns, once all it did is committed. If it raises, nothing was done.

        A caller that is cancelled meanwhile does not know the outcome: the change ends whole, and
        observers hear of it.
        """
        task = asyncio.create_task(self._change(by, work, consolidation_id))
        self._running.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    def _over(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Whoever asked for it may be gone, and then nobody else looks at how it ended.
            task.exception()

    async def close(self) -> None:
        """Wait for changes whose callers went away."""
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _change(
        self, by: Actor, work: Callable[[Journal], T], consolidation_id: str | None
    ) -> T:
        noted: list[Event] = []

        def whole(connection: Connection) -> T:
            journal = Journal(
                connection=connection,
                at=self.clock(),
                by=by,
                new_id=self.new_id,
                followers=tuple(self.followers),
                consolidation_id=consolidation_id,
            )
            if self.allows is not None:
                self.allows(connection)
            result = work(journal)
            noted.extend(journal.noted)
            return result

        result = await self.database.write(whole)
        await tell(self.observers, noted)
        return result
