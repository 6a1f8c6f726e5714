"""What a run takes up in Redis: the keys that belong to it, and how large they are."""

from __future__ import annotations

import asyncio

from control_plane.store import Store

# A share of the connections of one process.
_AT_ONCE = 16


async def names_of(store: Store, workflow_id: str) -> list[str]:
    """The keys that a run has or can have, each once: all that goes when it is removed."""
    run_keys = store.keys(workflow_id)
    paths = await store.paths(workflow_id)
    blobs = sorted(await store.backend.command("SMEMBERS", run_keys.blobs))
    return [
        run_keys.meta,
        run_keys.history,
        run_keys.chain,
        run_keys.due,
        run_keys.paths,
        run_keys.stage,
        run_keys.blobs,
        run_keys.agents,
        run_keys.audit,
        *map(run_keys.state, paths),
        *map(run_keys.output, paths),
        *map(run_keys.calls, paths),
        *map(run_keys.blob, blobs),
    ]


async def space_of(store: Store, workflow_id: str) -> int:
    """Bytes that a run takes up, as the server (``MEMORY USAGE``) sees it; 0 when it is gone. Only
    a real server can say it."""
    names = await names_of(store, workflow_id)
    total = 0
    for at in range(0, len(names), _AT_ONCE):
        part = names[at : at + _AT_ONCE]
        sizes = await asyncio.gather(
            *[store.backend.command("MEMORY", "USAGE", name) for name in part]
        )
        total += sum(size or 0 for size in sizes)
    return total
