"""Who acts on runs besides their clients and workers.

A run is moved to the pool where it is, so that the same workers go on with it. Watched processes
work on one state each: they die, vanish, or give the state back.
"""

from __future__ import annotations

import asyncio
import contextlib
import random

from control_plane import ControlPlaneError, Lease, Store
from dcf.simulation.order import Order
from dcf.simulation.server import POOL

_MOVED = 0.25
# Said again; the same one to another pool; the next; one that comes late.
_MOVES = ((1, POOL), (1, POOL), (1, "elsewhere"), (2, POOL), (1, POOL))
_WATCHED = 0.15
_LEASES = 8
_TTL_MS = 1_000
_DIED = "killed by SIGKILL"


async def move_at_times(order: Order, store: Store) -> None:
    """Move the run of ``order``, if it is one of those that are moved."""
    # Of the order alone: under a seed all else is drawn as if nobody moved anything.
    rng = random.Random(f"moves {order.workflow_id} {order.submit_at}")
    if rng.random() >= _MOVED:
        return
    await asyncio.sleep(order.submit_at + rng.uniform(0, 20))
    revoke = rng.random() < 0.6
    moved = False
    for turn, pool in _MOVES:
        try:
            # The first move decides: in another pool nobody would take the run.
            if moved or pool == POOL:
                said = await store.move(
                    order.workflow_id, pool, turn=turn, by="ops", reason="as planned", revoke=revoke
                )
                moved = moved or said is None
        except ControlPlaneError:
            # There is no such run yet, or no write is taken now.
            continue
        await asyncio.sleep(rng.choice((0.0, 0.0, 0.5, 6.0)))


async def watch_at_times(order: Order, store: Store) -> None:
    """Lease some states of ``order``, if it is one of those that are worked on in this way."""
    # Of the order alone: under a seed all else is drawn as if nobody watched anything.
    rng = random.Random(f"watched {order.workflow_id} {order.submit_at}")
    if rng.random() >= _WATCHED:
        return
    await asyncio.sleep(order.submit_at + rng.uniform(0, 5))
    for _ in range(_LEASES):
        # There may be no such run yet, or no write be taken now.
        with contextlib.suppress(ControlPlaneError):
            await _lease_one(order.workflow_id, store, rng)
        await asyncio.sleep(rng.choice((0.3, 1.0, 3.0)))


async def _lease_one(run: str, store: Store, rng: random.Random) -> None:
    documents = await store.states(run, await store.paths(run))
    ready = sorted(name for name, one in documents.items() if one.status == "ready")
    if not ready:
        return
    lease = await store.acquire(
        run, rng.choice(ready), owner="watched", ttl_ms=_TTL_MS, alone="watched"
    )
    if not isinstance(lease, Lease):
        return
    fate = rng.choice(("dies", "vanishes", "gives back"))
    if fate == "vanishes":
        # Its death is told after the lease has ended by itself, perhaps while the next holds one.
        await asyncio.sleep(_TTL_MS / 1000 + rng.uniform(0, 4))
    died = None if fate == "gives back" else _DIED
    for _ in range(2):
        await store.release(lease, died=died)
