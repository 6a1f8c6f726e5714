"""The sweep: what time can move is found again, whoever has died and whatever was lost.

Each worker sweeps now and then. Nothing is executed here: states are put back to ready.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from control_plane import claims, keys
from control_plane.errors import RefusedForGood, ServerError
from control_plane.store import Store

log = logging.getLogger(__name__)

RUNS_A_SWEEP = 16
PATHS_A_TICK = 100
# In a cluster the script cannot write the index; this bounds how late a look can be.
LOOK_AHEAD_MS = 60_000


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick of one run found. ``next_due_ms`` is None when nothing waits for time;
    ``status`` is "" when there is no such run."""

    moved: int
    next_due_ms: int | None
    now_ms: int
    status: str


@dataclass(slots=True)
class Swept:
    """What a sweep found: ``next_look_ms`` is when the next run is due for a look, ``over`` the
    runs that ended and still stand in the index."""

    moved: int = 0
    now_ms: int = 0
    next_look_ms: int | None = None
    over: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)


async def tick(store: Store, workflow_id: str) -> Ticked:
    """Let time move what is due in one run."""
    run_keys = store.keys(workflow_id)
    now_ms = await store.now_ms()
    due = await store.backend.command(
        "ZRANGE", run_keys.due, "-inf", now_ms, "BYSCORE", "LIMIT", 0, PATHS_A_TICK
    )
    answer = await store.call("tick", workflow_id, {"paths": due})
    next_due = int(float(answer[1])) if answer[1] else None
    if store.cluster and answer[4] == "running":
        look = int(answer[2]) + LOOK_AHEAD_MS
        at = min(next_due, look) if next_due is not None else look
        await store.backend.command("ZADD", keys.INDEX, "XX", at, workflow_id)
    return Ticked(int(answer[3]), next_due, int(answer[2]), answer[4])


async def sweep(store: Store, *, limit: int = RUNS_A_SWEEP) -> Swept:
    """Claim up to ``limit`` runs that are due for a look and tick each."""
    claimed = await claims.claim(store.backend, keys.INDEX, limit)
    swept = Swept(now_ms=claimed.now_ms, next_look_ms=claimed.next_ms)
    for workflow_id in claimed.members:
        try:
            ticked = await tick(store, workflow_id)
        except RefusedForGood:
            raise
        except ServerError as error:
            # The others are due too; this one is looked at again in 15 s.
            log.error("cannot tick run %s: %s", workflow_id, error)
            continue
        swept.moved += ticked.moved
        if ticked.status == "":
            # Removed, or its submission died at once: there is nothing to look at.
            if store.cluster:
                await store.leave_index(workflow_id, swept.now_ms + claims.CLAIM_MS)
        elif ticked.status == "pending":
            swept.unfinished.append(workflow_id)
        elif ticked.status != "running":
            swept.over.append(workflow_id)
        elif ticked.next_due_ms is not None:
            known = swept.next_look_ms
            due = ticked.next_due_ms
            swept.next_look_ms = due if known is None else min(known, due)
    return swept
