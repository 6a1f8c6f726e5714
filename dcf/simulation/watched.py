"""Processes for one state each, that somebody watches: they die, vanish, or give the state back."""

from __future__ import annotations

import asyncio
import contextlib
import random

from control_plane import ControlPlaneError, Lease, Store
from dcf.simulation.order import Order

_RATE = 0.15
_LEASES = 8
_TTL_MS = 1_000
_DIED = "killed by SIGKILL"


async def watch_at_times(order: Order, store: Store) -> None:
    """Lease some states of ``order``, if it is one of those that are worked on in this way."""
    # Of the order alone: under a seed all else is drawn as if nobody watched anything.
    rng = random.Random(f"watched {order.workflow_id} {order.submit_at}")
    if rng.random() >= _RATE:
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
