"""When finished runs are looked at for what they leave to be known: at once where this process
sealed the run, and every half minute those whose worker died before it had."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias

from control_plane import (
    DONE,
    ControlPlaneError,
    CorruptHistory,
    RunDocument,
    Store,
    UnknownRun,
    run_lists,
)
from dcf.knowledge import SESSION_PIN
from dcf.memory import SYSTEM, InvalidEntry, Memory, MemoryProblem, Observation
from dcf.workflow import observe_run

log = logging.getLogger(__name__)

_BY = SYSTEM.because("observations of a run")
_EVERY_S = 30.0
_LAST_S = 4.0
MARGIN_MS = 60_000
"""How far clocks, or clients of a cluster, may lag behind when they write what is looked at."""


Sweep: TypeAlias = Callable[[], Awaitable[int]]
"""Looks at what happened since it last did; how much of it left something."""


class RunObserver:
    """Keeps the observations of runs in ``memory``, as of ``project``: each run's exactly once,
    however many processes look. The tasks of sessions are not among them: their definition is a
    text that somebody wrote. An heir looks at others: ``source`` is what its runs are of. Each
    sweep calls those of ``besides``, too."""

    source = "run"

    def __init__(
        self, store: Store, memory: Memory, project: str, *, besides: Sequence[Sweep] = ()
    ) -> None:
        self._besides = besides
        self._store = store
        self._memory = memory
        self._project = project
        self._ended: dict[str, None] = {}
        self._woken = asyncio.Event()

    def end(self, workflow_id: str) -> None:
        """The run was sealed just now: ``run`` looks at it at once."""
        self._ended[workflow_id] = None
        self._woken.set()

    async def run(self) -> None:
        """Look for ever."""
        now = asyncio.get_running_loop().time
        swept_at = -math.inf
        while True:
            self._woken.clear()
            await self._look_at_ended()
            if now() - swept_at >= _EVERY_S:
                swept_at = now()
                for sweep in (self.sweep, *self._besides):
                    with _later():
                        await sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(max(swept_at + _EVERY_S - now(), 0)):
                    await self._woken.wait()

    async def at_last(self) -> None:
        """Look at what ended here before the process does; others find what is left."""
        with _later():
            async with asyncio.timeout(_LAST_S):
                await self._look_at_ended()

    async def sweep(self) -> int:
        """Look at the runs that ended since the last sweep, of whichever process; how many left
        something. Raises ControlPlaneError, MemoryProblem."""
        now_ms = await self._store.now_ms()
        since = await self._memory.observations.observed_until(self.source, now_ms)
        reached, found = now_ms - MARGIN_MS, 0
        async for page, _ in run_lists.pages_by_score(self._store.backend, DONE, str(since)):
            for run in await self._store.run_many(page):
                if await self.is_settled(run):
                    found += await self._observe(run)
                else:
                    # It is looked at when it is; until then no sweep goes past it.
                    reached = min(reached, (run.finished_at or since) - 1)
        until = max(reached, since)
        await self._memory.observations.observe_until(self.source, until, now_ms, by=_BY)
        return found

    async def is_settled(self, run: RunDocument) -> bool:
        """Whether all that there is to know of a run is known: it is sealed."""
        return run.finalized_at is not None

    async def keep(self, run: RunDocument) -> Sequence[Observation] | None:
        """Keep what a run leaves, once. Raises as ``observe_run``."""
        if SESSION_PIN in (run.raw.get("pins") or {}):
            return None
        return await observe_run(
            self._store, self._memory, run.workflow_id, project=self._project, by=_BY
        )

    async def _look_at_ended(self) -> None:
        """A run at which looking failed is found again by a sweep."""
        while self._ended:
            workflow_id = next(iter(self._ended))
            with _later():
                run = await self._store.run(workflow_id)
                if await self.is_settled(run):
                    await self._observe(run)
            # Who ends the worker looks too, while this is still under way.
            self._ended.pop(workflow_id, None)

    async def _observe(self, run: RunDocument) -> bool:
        """Keep what a run leaves; whether it left something that was not kept."""
        try:
            kept = await self.keep(run)
        except UnknownRun:
            log.debug("%s was removed before it was observed", run.workflow_id)
            return False
        except (CorruptHistory, InvalidEntry) as error:
            # A run that cannot be observed keeps no other from it.
            log.error("%s is not observed: %s", run.workflow_id, error)
            return False
        return bool(kept)


@contextmanager
def _later() -> Iterator[None]:
    """What keeps runs from being observed now does no harm: the next sweep, of whomever, finds
    them."""
    try:
        yield
    except (ControlPlaneError, MemoryProblem, TimeoutError) as error:
        log.warning("what is over is observed later: %s", error)
