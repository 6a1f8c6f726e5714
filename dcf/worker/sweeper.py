"""What every worker does besides its own work: it brings back what a lost hint or a dead worker
left behind, seals runs that are over, removes those whose removal or submission stopped half way,
and completes the lists of runs."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from control_plane import (
    INDEX,
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    RunDocument,
    Store,
    UnknownRun,
    claims,
    damage_is_told,
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
        # Each has a loop of its own: timers do not wait until runs are sealed or removed.
        self._over = _Backlog(self.finalize)
        self._half_way = _Backlog(self._remove)
        self._look_at = math.inf
        self._sooner = asyncio.Event()

    def look_in(self, seconds: float) -> None:
        """Sweep when so much time has passed, or earlier: no sweep has seen yet what is due then.
        Who dies first leaves it to the sweeps of others."""
        at = self._now() + max(seconds, _SHORTEST_NAP_S)
        if at < self._look_at:
            self._look_at = at
            self._sooner.set()

    async def run(self) -> None:
        """Sweep for ever."""
        stale_at = self._now()
        filling: AsyncIterator[int] | None = None
        while True:
            self._look_at = math.inf
            swept = await timers.sweep(self._store)
            if self._on_swept is not None:
                self._on_swept()
            self._over.put(*swept.over)
            self._half_way.put(*swept.unfinished, *swept.removing)
            if self._now() >= stale_at:
                await self._queue.open()
                await self._queue.drop_stale()
                stale_at = self._now() + _STALE_HINTS_EVERY_S
                filling = filling or run_lists.filling(self._store)
            # A slice at a time: what is due does not wait for a hundred thousand runs.
            if filling is not None and not await anext(filling, 0):
                filling = None
            self.look_in(_nap(swept, self._every_s))
            await self._rest()

    async def _rest(self) -> None:
        """Until the next look."""
        with suppress(TimeoutError):
            while (left := self._look_at - self._now()) > 0:
                self._sooner.clear()
                async with asyncio.timeout(left):
                    await self._sooner.wait()

    async def seal_ended(self, workflow_id: str) -> None:
        """Have a run sealed that has just ended here, unless another's sweep was quicker."""
        claimed = await claims.claim(self._store.backend, INDEX, 1, of=[workflow_id])
        if claimed.members:
            self._over.put(workflow_id)

    async def seal(self) -> None:
        """Seal what is over, one after another, for ever: work that waits goes first."""
        await self._over.work()

    async def seal_rest(self) -> None:
        """Seal what is left. What is not, since this was cancelled, is still left."""
        await self._over.work_rest()

    async def remove(self) -> None:
        """Remove what stopped half way, one run after another, for ever. What is left when this is
        cancelled another's sweep finds, in 15 s."""
        await self._half_way.work()

    async def finalize(self, workflow_id: str) -> None:
        """Seal a run that is over."""
        try:
            async with damage_is_told(self._store, workflow_id):
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
        except Exception as error:  # noqa: BLE001 - reported; it keeps no other run from its end
            self._report(f"{workflow_id} cannot be finalized", error)

    async def _remove(self, workflow_id: str) -> None:
        """Remove a run whose removal, or whose submission, stopped half way."""
        try:
            run = await self._store.run(workflow_id)
            if run.removing:
                log.info("%s: removing the rest of %s", self._name, workflow_id)
                await self._store.remove(workflow_id)
            elif run.status == "pending" and await self._is_abandoned(run):
                log.warning("%s: removing %s, never completely submitted", self._name, workflow_id)
                await self._store.remove(workflow_id, abandoned=True)
        except UnknownRun:
            log.debug("%s: %s was removed", self._name, workflow_id)
        except (Disconnected, RefusedForGood):
            raise
        except ControlPlaneError as error:
            # A run that cannot be removed keeps no other from going.
            log.error("%s: %s cannot be removed: %s", self._name, workflow_id, error)
        except Exception as error:  # noqa: BLE001 - reported; it keeps no other run from going
            self._report(f"{workflow_id} cannot be removed", error)

    def _report(self, what: str, error: Exception) -> None:
        """A defect of ours, or a document that says what none says."""
        context = {"message": f"{self._name}: {what}", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

    async def _is_abandoned(self, run: RunDocument) -> bool:
        """Whether its submission began so long ago that nobody goes on with it."""
        now_ms = await self._store.now_ms()
        return now_ms - (run.created_at or now_ms) > _ABANDONED_MS


class _Backlog:
    """Runs that wait for ``act``, in the order in which they came, each once."""

    def __init__(self, act: Callable[[str], Awaitable[None]]) -> None:
        self._act = act
        self._waiting: dict[str, None] = {}
        self._some = asyncio.Event()

    def put(self, *workflow_ids: str) -> None:
        """Let these wait too."""
        self._waiting.update(dict.fromkeys(workflow_ids))
        if self._waiting:
            self._some.set()

    async def work(self) -> None:
        """Act on one after another, for ever."""
        while True:
            await self._some.wait()
            await self.work_rest()
            self._some.clear()

    async def work_rest(self) -> None:
        """Act on those that wait. One on which it raised, or was cancelled, still does."""
        while self._waiting:
            workflow_id = next(iter(self._waiting))
            await self._act(workflow_id)
            self._waiting.pop(workflow_id, None)


def _nap(swept: timers.Swept, longest_s: float) -> float:
    if swept.next_look_ms is None:
        return longest_s
    return min((swept.next_look_ms - swept.now_ms) / 1000, longest_s)
