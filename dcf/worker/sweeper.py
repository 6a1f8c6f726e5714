"""What every worker does besides its own work: it brings back what a lost hint or a dead worker
left behind, seals runs that are over, removes submissions that stopped half way, and completes the
lists of runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from control_plane import (
    INDEX,
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    Store,
    UnknownRun,
    WrongType,
    claims,
    run_lists,
    timers,
)
from dcf.workflow import StillRunning, finalize

log = logging.getLogger(__name__)

_SHORTEST_NAP_S = 0.01
# Also the sign of life of a worker that is too busy to read: `explain` counts who gave one lately.
_STALE_HINTS_EVERY_S = 5.0
# A submission that stopped half way is removed after this long.
_ABANDONED_MS = 600_000


class Queue(Protocol):
    """What of a queue of hints is looked after besides reading it."""

    async def open(self) -> None: ...

    async def drop_stale(self) -> int: ...


class Sweeper:
    """Sweeps in the name of the worker ``name``, at least every ``every_s`` seconds. ``now`` is a
    monotonic clock in seconds; ``on_sealed`` is told of each run that was sealed, ``on_swept`` of
    each sweep."""

    def __init__(
        self,
        name: str,
        store: Store,
        queue: Queue,
        *,
        now: Callable[[], float],
        every_s: float,
        on_sealed: Callable[[str], object] | None = None,
        on_swept: Callable[[], object] | None = None,
    ) -> None:
        self._name = name
        self._store = store
        self._queue = queue
        self._now = now
        self._every_s = every_s
        self._on_sealed = on_sealed
        self._on_swept = on_swept
        # In the order in which they ended.
        self._over: dict[str, None] = {}
        self._some_over = asyncio.Event()

    async def run(self) -> None:
        """Sweep for ever."""
        stale_at = self._now()
        filling: AsyncIterator[int] | None = None
        while True:
            swept = await timers.sweep(self._store)
            if self._on_swept is not None:
                self._on_swept()
            # Timers do not wait until runs that are over are sealed.
            for workflow_id in swept.over:
                self._put_over(workflow_id)
            for workflow_id in swept.unfinished:
                await self._abandon(workflow_id, swept.now_ms)
            for workflow_id in swept.removing:
                log.info("%s: removing the rest of %s", self._name, workflow_id)
                await self._store.remove(workflow_id)
            if self._now() >= stale_at:
                await self._queue.open()
                await self._queue.drop_stale()
                stale_at = self._now() + _STALE_HINTS_EVERY_S
                filling = filling or run_lists.filling(self._store)
            # A slice at a time: what is due does not wait for a hundred thousand runs.
            if filling is not None and not await anext(filling, 0):
                filling = None
            await asyncio.sleep(_nap(swept, self._every_s))

    async def seal_ended(self, workflow_id: str) -> None:
        """Have a run sealed that has just ended here, unless another's sweep was quicker."""
        claimed = await claims.claim(self._store.backend, INDEX, 1, of=[workflow_id])
        if claimed.members:
            self._put_over(workflow_id)

    async def seal(self) -> None:
        """Seal what is over, one after another, for ever: work that waits goes first."""
        while True:
            await self._some_over.wait()
            await self.seal_rest()
            self._some_over.clear()

    async def seal_rest(self) -> None:
        """Seal what is left. What is not, since this was cancelled, is still left."""
        while self._over:
            workflow_id = next(iter(self._over))
            await self.finalize(workflow_id)
            del self._over[workflow_id]

    async def finalize(self, workflow_id: str) -> None:
        """Seal a run that is over."""
        try:
            await finalize(self._store, workflow_id, by=self._name)
            if self._on_sealed is not None:
                self._on_sealed(workflow_id)
        except StillRunning:
            log.debug("%s: %s runs again", self._name, workflow_id)
        except UnknownRun:
            log.debug("%s: %s was removed", self._name, workflow_id)
        except RefusedForGood:
            raise
        except Disconnected as error:
            log.info("%s: %s is sealed later: %s", self._name, workflow_id, error)
        except ControlPlaneError as error:
            # A run that cannot be sealed keeps no other from its end.
            log.error("%s: %s cannot be finalized: %s", self._name, workflow_id, error)

    def _put_over(self, workflow_id: str) -> None:
        self._over[workflow_id] = None
        self._some_over.set()

    async def _abandon(self, workflow_id: str, now_ms: int) -> None:
        try:
            run = await self._store.run(workflow_id)
        except WrongType as error:
            log.error("%s: %s cannot be read: %s", self._name, workflow_id, error)
            return
        if run.status == "pending" and now_ms - (run.created_at or now_ms) > _ABANDONED_MS:
            log.warning("%s: removing %s, never completely submitted", self._name, workflow_id)
            await self._store.remove(workflow_id, abandoned=True)


def _nap(swept: timers.Swept, longest_s: float) -> float:
    if swept.next_look_ms is None:
        return longest_s
    ahead = (swept.next_look_ms - swept.now_ms) / 1000
    return min(max(ahead, _SHORTEST_NAP_S), longest_s)
