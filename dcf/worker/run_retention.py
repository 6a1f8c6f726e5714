"""Removing runs by themselves that ended long enough ago, where a setting says so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from control_plane import (
    ControlPlaneError,
    RefusedForGood,
    RunStatus,
    ServerError,
    Store,
    keys,
    run_lists,
)
from dcf.worker.run_removal import remove_run

log = logging.getLogger(__name__)

EVERY_MS = 3_600_000
"""One process in this time looks at all runs."""
_LOOK_S = 60.0


async def retain_for_ever(store: Store, ages_ms: Mapping[RunStatus, int]) -> None:
    """Apply the retention once an hour, in one of all processes that run this, until cancelled.
    Raises RefusedForGood."""
    while True:
        try:
            if await _is_my_turn(store):
                removed = await apply_retention(store, ages_ms)
                if removed:
                    log.info("%d runs removed that ended long enough ago", removed)
        except RefusedForGood:
            raise
        except ControlPlaneError as error:
            log.warning("runs that ended long ago are removed later: %s", error)
        await asyncio.sleep(_LOOK_S)


async def apply_retention(store: Store, ages_ms: Mapping[RunStatus, int]) -> int:
    """Remove the runs that ended as long ago as ``ages_ms`` says of their status, or longer; how
    many. A status that is not in it is kept for ever, and so is what may not be removed."""
    now = await store.now_ms()
    removed = 0
    async for page in run_lists.ended_runs(store, now - min(ages_ms.values()), list(ages_ms)):
        for run in page:
            if now - (run.finished_at or now) < ages_ms[run.status]:
                continue
            try:
                removed += await remove_run(store, run) is None
            except RefusedForGood:
                raise
            except ServerError as error:
                # One that cannot be removed keeps no other from going.
                log.error("run %s cannot be removed: %s", run.workflow_id, error)
    return removed


async def _is_my_turn(store: Store) -> bool:
    claimed = await store.backend.command("SET", keys.RUNS_RETAINED, 1, "NX", "PX", EVERY_MS)
    return claimed is not None
