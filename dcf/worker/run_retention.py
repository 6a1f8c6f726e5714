"""Removing runs by themselves that ended long enough ago, where a setting says so."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from control_plane import (
    ControlPlaneError,
    Disconnected,
    RefusedForGood,
    RunDocument,
    RunStatus,
    Store,
    keys,
    run_lists,
)
from dcf.knowledge import KnowledgeError
from dcf.memory import MemoryProblem
from dcf.worker.run_memory import RunMemory
from dcf.worker.run_removal import Kept, remove_run

log = logging.getLogger(__name__)

Deliver = Callable[[], Awaitable[object]]
"""Writes what waits in the outbox to the graph. Raises KnowledgeError, ControlPlaneError."""

EVERY_MS = 3_600_000
"""One process in this time looks at all runs."""
_LOOK_S = 60.0
_TOGETHER = 500


async def retain_for_ever(
    store: Store,
    ages_ms: Mapping[RunStatus, int],
    deliver: Deliver | None = None,
    memory: RunMemory | None = None,
) -> None:
    """Apply the retention once an hour, in one of all processes that run this, until cancelled or
    until Redis refuses to work for DCF."""
    while True:
        try:
            if await _is_my_turn(store):
                removed = await apply_retention(store, ages_ms, deliver, memory)
                if removed:
                    log.info("%d runs removed that ended long enough ago", removed)
        except RefusedForGood as error:
            log.error("runs that ended long ago are no longer removed from here: %s", error)
            return
        except ControlPlaneError as error:
            log.warning("runs that ended long ago are removed later: %s", error)
        await asyncio.sleep(_LOOK_S)


async def apply_retention(
    store: Store,
    ages_ms: Mapping[RunStatus, int],
    deliver: Deliver | None = None,
    memory: RunMemory | None = None,
) -> int:
    """Remove the runs that ended as long ago as ``ages_ms`` says of their status, or longer, with
    their nodes in the ``memory``; how many. A status that is not in it is kept for ever, and so is
    what may not or cannot be removed, which the log tells. ``deliver`` writes what waits in the
    outbox to the graph: it is called if a run is only kept because the graph does not have it."""
    now = await store.now_ms()
    removal = _Removal(store, memory)
    async for page in run_lists.ended_runs(store, now - min(ages_ms.values()), list(ages_ms)):
        for run in page:
            if now - (run.finished_at or now) >= ages_ms[run.status]:
                await removal.remove(run)
    waiting = [one for one, kept in removal.kept.items() if kept.undelivered]
    if waiting and deliver is not None:
        try:
            await deliver()
        except (KnowledgeError, ControlPlaneError) as error:
            log.warning("the graph is not given what waits for it: %s", error)
        else:
            for at in range(0, len(waiting), _TOGETHER):
                for run in await store.run_many(waiting[at : at + _TOGETHER]):
                    await removal.remove(run)
    removal.tell()
    return removal.removed


@dataclass(slots=True)
class _Removal:
    """How many runs went, and by their ids those that are kept."""

    store: Store
    memory: RunMemory | None = None
    removed: int = 0
    kept: dict[str, Kept] = field(default_factory=dict)

    async def remove(self, run: RunDocument) -> None:
        self.kept.pop(run.workflow_id, None)
        try:
            kept = await remove_run(self.store, run, self.memory)
        except (Disconnected, RefusedForGood):
            raise
        except Exception as error:
            # One that cannot be removed keeps no other from going.
            told = isinstance(error, ControlPlaneError | MemoryProblem)
            trace = None if told else error
            log.error("run %s cannot be removed: %r", run.workflow_id, error, exc_info=trace)
            return
        if kept is None:
            self.removed += 1
        else:
            self.kept[run.workflow_id] = kept

    def tell(self) -> None:
        """Log what is kept beyond its time: a line for each reason, with one such run."""
        of_reason = {(kept.code, kept.undelivered): one for one, kept in self.kept.items()}
        count = Counter((kept.code, kept.undelivered) for kept in self.kept.values())
        for reason, one in of_reason.items():
            kept = self.kept[one]
            log.warning(
                "%d runs that ended long enough ago are kept, one of them: run %s %s (%s)",
                count[reason], one, kept.why, kept.hint,
            )  # fmt: skip


async def _is_my_turn(store: Store) -> bool:
    claimed = await store.backend.command("SET", keys.RUNS_RETAINED, 1, "NX", "PX", EVERY_MS)
    return claimed is not None
