"""The sweep: what time can move is found again, whoever has died and whatever was lost.

Each worker sweeps now and then. Nothing is executed here: states are put back to ready.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from control_plane import claims, keys
from control_plane.errors import RefusedForGood, ServerError
from control_plane.store import Store

log = logging.getLogger(__name__)

# Claimed and ticked together. Who dies over them keeps them from the others for 15 s.
RUNS_AT_ONCE = 32
# So many times a sweep goes on while more is due than it can take at once: then others get a turn.
ROUNDS_A_SWEEP = 32
# In a cluster the script cannot write the index; this bounds how late a look can be.
LOOK_AHEAD_MS = 60_000


@dataclass(frozen=True, slots=True)
class Ticked:
    """What a tick of one run found. ``next_due_ms`` is None when nothing waits for time;
    ``status`` is "" when there is no such run, "removing" while it is removed."""

    moved: int
    next_due_ms: int | None
    now_ms: int
    status: str

    @property
    def is_short(self) -> bool:
        """Whether more is due than this tick moved. Where it moved nothing, the next one would not
        either: a redrive prepares the run."""
        due = self.next_due_ms
        running = self.status == "running"
        return running and self.moved > 0 and due is not None and due <= self.now_ms


@dataclass(slots=True)
class Swept:
    """What a sweep found: ``next_look_ms`` is when the next run is due for a look, ``over`` the
    runs that ended and still stand in the index, ``unfinished`` those that are not completely
    submitted, ``removing`` those whose removal was not completed."""

    moved: int = 0
    now_ms: int = 0
    next_look_ms: int | None = None
    over: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    removing: list[str] = field(default_factory=list)


async def tick(store: Store, workflow_id: str) -> Ticked:
    """Let time move what is due in one run. A lease that ended while the server answered nothing to
    this store does not count as a death."""
    answer = await store.call("tick", workflow_id, store.gap.ago_ms())
    next_due = claims.moment_ms(answer[1]) if answer[1] else None
    if store.cluster and answer[4] == "running":
        look = int(answer[2]) + LOOK_AHEAD_MS
        at = min(next_due, look) if next_due is not None else look
        await store.backend.command("ZADD", keys.INDEX, "XX", at, workflow_id)
    return Ticked(int(answer[3]), next_due, int(answer[2]), answer[4])


async def sweep(store: Store, *, limit: int = RUNS_AT_ONCE) -> Swept:
    """Claim the runs that are due for a look, ``limit`` at a time, and tick them together. A run
    in which more is due than one tick moves is claimed again, with those that are due by then."""
    swept = Swept()
    for _ in range(ROUNDS_A_SWEEP):
        with store.gap.noticed():
            claimed = await claims.claim(store.backend, keys.INDEX, limit)
        swept.now_ms, swept.next_look_ms = claimed.now_ms, claimed.next_ms
        looks = [_look(store, swept, workflow_id) for workflow_id in claimed.members]
        goes_on = len(claimed.members) == limit
        # All of them end before one's failure is raised: what is due there does not wait for it.
        for result in await asyncio.gather(*looks, return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
            goes_on = goes_on or result
        if not goes_on:
            break
    return swept


async def _look(store: Store, swept: Swept, workflow_id: str) -> bool:
    """Tick a claimed run, and note in ``swept`` what it came to; whether more is due there."""
    try:
        ticked = await tick(store, workflow_id)
    except RefusedForGood:
        raise
    except ServerError as error:
        # The others are due too; this one is looked at again in 15 s.
        log.error("cannot tick run %s: %s", workflow_id, error)
        return False
    swept.moved += ticked.moved
    if ticked.status == "":
        # Removed, or its submission died at once: there is nothing to look at.
        if store.cluster:
            await store.leave_index(workflow_id, swept.now_ms + claims.CLAIM_MS)
    elif ticked.status == "pending":
        swept.unfinished.append(workflow_id)
    elif ticked.status == "removing":
        swept.removing.append(workflow_id)
    elif ticked.status != "running":
        swept.over.append(workflow_id)
    elif ticked.next_due_ms is not None:
        known = swept.next_look_ms
        due = ticked.next_due_ms
        swept.next_look_ms = due if known is None else min(known, due)
    return ticked.is_short
