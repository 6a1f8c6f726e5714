"""Who moves runs: to the pool where they are, so that the same workers go on with them."""

from __future__ import annotations

import asyncio
import random

from control_plane import ControlPlaneError, Store
from dcf.simulation.order import Order
from dcf.simulation.server import POOL

_RATE = 0.25
# Said again; the same one to another pool; the next; one that comes late.
_MOVES = ((1, POOL), (1, POOL), (1, "elsewhere"), (2, POOL), (1, POOL))


async def move_at_times(order: Order, store: Store) -> None:
    """Move the run of ``order``, if it is one of those that are moved."""
    # Of the order alone: under a seed all else is drawn as if nobody moved anything.
    rng = random.Random(f"moves {order.workflow_id} {order.submit_at}")
    if rng.random() >= _RATE:
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
