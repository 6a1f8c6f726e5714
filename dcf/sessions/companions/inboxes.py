"""The inboxes of many companions, read with few connections."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from control_plane import (
    Backend,
    ControlPlaneError,
    Disconnected,
    Hint,
    HintQueues,
    RefusedForGood,
    Store,
    WrongType,
)
from dcf.stopping import stop
from dcf.worker import Outage

log = logging.getLogger(__name__)

SHARD = 64
"""Inboxes that one connection reads."""
# An inbox that is added is read from the next read on.
_BLOCK_MS = 250
_AWAY_S = 0.25


class Inboxes:
    """Reads inboxes as ``consumer``, each shard of them by a connection that ``connect`` opens."""

    def __init__(self, connect: Callable[[], Backend], *, consumer: str) -> None:
        self._connect = connect
        self._consumer = consumer
        self._shards: list[_Shard] = []
        self._arrived: asyncio.Queue[Hint | BaseException] = asyncio.Queue()

    async def open(self) -> None:
        """Create the consumer groups that are missing."""
        for shard in self._shards:
            await shard.queues.open()

    async def add(self, inbox: str) -> None:
        """Read another inbox."""
        shard = next((one for one in self._shards if len(one.queues.pools) < SHARD), None)
        if shard is None:
            shard = _Shard(self._connect(), self._consumer, self._arrived)
            self._shards.append(shard)
        await shard.queues.add(inbox)

    async def remove(self, inbox: str) -> None:
        """Read an inbox no more."""
        for shard in self._shards:
            if inbox in shard.queues.pools:
                await shard.queues.remove(inbox)

    async def read(self, count: int) -> list[Hint]:
        """Up to ``count`` hints; waits for the first. Raises what ended a reader: a defect, after
        which its inboxes are read no more."""
        arrived = [await self._arrived.get()]
        while len(arrived) < count and not self._arrived.empty():
            arrived.append(self._arrived.get_nowait())
        hints: list[Hint] = []
        for one in arrived:
            if isinstance(one, BaseException):
                raise one
            hints.append(one)
        return hints

    async def drop_stale(self) -> int:
        """Forget hints that somebody took long ago and never settled; how many there were."""
        return sum([await shard.queues.drop_stale() for shard in self._shards])

    async def leave(self, store: Store) -> None:
        """Read nothing more. What arrived and nobody began is hinted again, for others."""
        for shard in self._shards:
            await shard.stop()
        try:
            for shard in self._shards:
                await shard.queues.leave()
            while not self._arrived.empty():
                hint = self._arrived.get_nowait()
                if isinstance(hint, Hint):
                    await store.send_hints(hint.workflow_id, [hint.path], hint.pool)
        except ControlPlaneError as error:
            # Others do without: a sweep writes the hints again.
            log.warning("%s could not leave its inboxes: %s", self._consumer, error)

    async def close(self) -> None:
        for shard in self._shards:
            await shard.stop()
            await shard.backend.close()


class _Shard:
    """Some inboxes, and what reads them for ever."""

    def __init__(
        self, backend: Backend, consumer: str, arrived: asyncio.Queue[Hint | BaseException]
    ) -> None:
        self.backend = backend
        self.queues = HintQueues(backend, consumer=consumer)
        self._arrived = arrived
        self._outage = Outage(f"the inboxes of {consumer}", time.monotonic)
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(self._ended)

    def _ended(self, reading: asyncio.Task[None]) -> None:
        """A host that no longer reads its inboxes must not look alive."""
        error = None if reading.cancelled() else reading.exception()
        if error is not None:
            self._arrived.put_nowait(error)

    async def stop(self) -> None:
        await stop(self._reading)

    async def _read(self) -> None:
        while True:
            try:
                for hint in await self.queues.read(1, block_ms=_BLOCK_MS):
                    self._arrived.put_nowait(hint)
                self._outage.over()
            except Disconnected as error:
                self._outage.seen(error)
                await asyncio.sleep(_AWAY_S)
            except (RefusedForGood, WrongType):
                raise
            except ControlPlaneError as error:
                log.warning("inboxes cannot be read: %s; trying again", error)
                await asyncio.sleep(_AWAY_S)
