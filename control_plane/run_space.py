"""What a run takes up in Redis: the keys that belong to it, and how large they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from control_plane import keys
from control_plane.run_lists import STATUSES
from control_plane.store import Store

# A share of the connections of one process.
_AT_ONCE = 16
_DAY_MS = 86_400_000
# Keys that one call of a search looks at.
_LOOKED_AT = 1_000
# What an estimate weighs: the newest runs of each status, and so many keys of each.
_RUNS, _KEYS = 5, 100


@dataclass(frozen=True, slots=True)
class RunsSpace:
    """What all runs take up, about: ``runs`` and their ``size`` in bytes, and those of them that
    were made in the last 24 hours."""

    runs: int
    size: int
    day_runs: int
    day_size: int


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


async def names_found(store: Store, workflow_id: str) -> list[str]:
    """The keys that begin as those of a run do, sorted, whatever its sets of paths and blobs say:
    all keys of the server are looked through for them."""
    found: set[str] = set()
    for pattern in (store.keys(workflow_id).control("*"), store.keys(workflow_id).data("*")):
        cursor = "0"
        while True:
            cursor, names = await store.backend.command(
                "SCAN", cursor, "MATCH", pattern, "COUNT", _LOOKED_AT
            )
            found.update(names)
            if cursor == "0":
                break
    return sorted(found)


async def space_of(store: Store, workflow_id: str, *, most: int | None = None) -> int:
    """Bytes that a run takes up, as the server (``MEMORY USAGE``) sees it; 0 when it is gone. Only
    a real server can say it. With ``most`` so many of its keys stand for all, spread evenly."""
    every = await names_of(store, workflow_id)
    names = every[:: -(-len(every) // most)] if most else every
    return await space_of_keys(store, names) * len(every) // len(names)


async def space_of_keys(store: Store, names: Sequence[str]) -> int:
    """Bytes that these keys take up."""
    total = 0
    for at in range(0, len(names), _AT_ONCE):
        part = names[at : at + _AT_ONCE]
        sizes = await asyncio.gather(
            *[store.backend.command("MEMORY", "USAGE", name) for name in part]
        )
        total += sum(size or 0 for size in sizes)
    return total


async def space_of_runs(store: Store) -> RunsSpace:
    """What all runs take up, estimated from the newest of each status; nothing is written."""
    since = await store.now_ms() - _DAY_MS
    found = RunsSpace(0, 0, 0, 0)
    for name in map(keys.runs, STATUSES):
        runs = int(await store.backend.command("ZCARD", name))
        if not runs:
            continue
        young = int(await store.backend.command("ZCOUNT", name, since, "+inf"))
        newest = await store.backend.command("ZRANGE", name, 0, _RUNS - 1, "REV")
        sizes = [await space_of(store, one, most=_KEYS) for one in newest]
        mean = sum(sizes) / max(1, len(sizes))
        found = RunsSpace(
            found.runs + runs,
            found.size + round(mean * runs),
            found.day_runs + young,
            found.day_size + round(mean * young),
        )
    return found
