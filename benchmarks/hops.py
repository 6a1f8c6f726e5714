"""Throughput and latency of workers."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from typing import Any

from benchmarks.figure import Figure, median, quantile
from benchmarks.machines import fan, passes, tasks
from benchmarks.runs import document, finish, now, submit
from benchmarks.workers import worker_processes
from control_plane import HintQueue, RedisBackend, Store
from dcf import workflow
from dcf.worker import KeeperThread, Performer, Worker
from dcf.workflow import Choreographer

_REPEATS = 3


async def throughput(url: str, *, raw: float, length: int, items: int) -> list[Figure]:
    """Chains of Pass and Task states, 8 at a time, and a Map, with 1 and 2 worker processes."""
    figures = []
    for processes in (1, 2):
        who = f"{processes} worker{'s' if processes > 1 else ''}"
        async with worker_processes(url, processes):
            for name, definition in (("Pass", passes(length)), ("Task", tasks(length))):
                chains = 8 * processes
                rates = []
                for _ in range(_REPEATS):
                    seconds = await _run(url, definition, chains, {"n": 1})
                    rates.append(chains * length / seconds)
                rate = median(rates)
                figures.append(
                    Figure(f"{name} chain, {who}, {chains} in flight", rate, "/s", rate / raw)
                )
            value = {"items": list(range(items))}
            rates = [items / await _run(url, fan(), 1, value) for _ in range(_REPEATS)]
            figures.append(Figure(f"Map of {items} no-op items, {who}", median(rates), "items/s"))
    return figures


async def _run(url: str, definition: dict[str, Any], count: int, value: Any) -> float:
    store = Store(RedisBackend.from_url(url))
    ids = await submit(store, document(definition), count, value)
    seconds = await finish(store, ids)
    for workflow_id in ids:
        await workflow.finalize(store, workflow_id, by="benchmark")
        await store.remove(workflow_id)
    await store.backend.close()
    return seconds


async def latency(url: str, *, length: int) -> list[Figure]:
    """One chain alone: the time from one Task's handler to the next one's, which holds output
    written, lease released, next state ready and leased."""
    moments: list[float] = []

    async def stamp(arguments: Any) -> Any:
        moments.append(now())
        return arguments

    store = Store(RedisBackend.from_url(url), pool="latency")
    queue = HintQueue(RedisBackend.from_url(url), pool="latency", consumer="latency")
    with KeeperThread(lambda: Store(RedisBackend.from_url(url), pool="latency")) as thread:
        worker = Worker(
            "latency",
            store,
            queue,
            thread.keeper,
            Choreographer(store, rng=random.Random(0)),
            Performer({"noop": stamp}),
            now=time.monotonic,
        )
        working = asyncio.create_task(worker.run())
        ids = await submit(store, document(tasks(length)), 1, {"n": 1})
        await finish(store, ids)
        worker.drain()
        await working
    await store.backend.close()
    hops = [later - earlier for earlier, later in itertools.pairwise(moments)]
    return [
        Figure("Task hop, one after another, p50", quantile(hops, 0.5) * 1000, "ms"),
        Figure("Task hop, one after another, p99", quantile(hops, 0.99) * 1000, "ms"),
    ]
