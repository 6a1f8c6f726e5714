"""What the same Redis and the same scripts do without workers: the measure for everything else."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from benchmarks.figure import Figure, quantile
from benchmarks.machines import tasks
from benchmarks.runs import document, now, submit
from control_plane import (
    Commit,
    Committed,
    Enter,
    Lease,
    Output,
    RedisBackend,
    Refusal,
    Store,
    payload,
)
from dcf import workflow

_VALUE = {"n": 1}


async def calibrate(url: str, *, pings: int, hops: int) -> list[Figure]:
    """PING/s, then the full hop script (commit and lease the next state in place) with 8 in flight
    and one after another."""
    client = Redis.from_url(url)
    started = now()
    for _ in range(pings):
        await client.ping()
    ping_rate = pings / (now() - started)
    await client.aclose()
    together, _ = await _hops(url, chains=8, length=hops)
    alone, times = await _hops(url, chains=1, length=hops)
    return [
        Figure("PING, one after another", ping_rate, "/s"),
        Figure("hop script, 8 in flight", together, "/s", note="the raw rate"),
        Figure("hop script, one after another", alone, "/s"),
        Figure("hop script, p50", quantile(times, 0.5) * 1000, "ms"),
    ]


async def _hops(url: str, *, chains: int, length: int) -> tuple[float, list[float]]:
    """Rate of hops per second and the time of each in seconds."""
    store = Store(RedisBackend.from_url(url), pool="raw")
    ids = await submit(store, document(tasks(length)), chains, _VALUE)
    content = payload.encode(_VALUE)
    times: list[float] = []

    async def follow(workflow_id: str) -> None:
        lease = _granted(await store.acquire(workflow_id, "S0", owner="raw"))
        for number in range(1, length):
            enter = Enter(f"S{number}", "Task", content, _VALUE)
            event = {"type": "StateDone", "path": lease.path}
            commit = Commit("done", event, output=Output(True, content), enter=enter)
            before = now()
            answer = await store.commit(lease, commit, commit_id=store.new_id(), in_place=True)
            times.append(now() - before)
            if not isinstance(answer, Committed) or answer.lease is None:
                raise RuntimeError(f"the raw hop was refused: {answer}")
            lease = answer.lease

    started = now()
    await asyncio.gather(*(follow(workflow_id) for workflow_id in ids))
    rate = chains * (length - 1) / (now() - started)
    for workflow_id in ids:
        await store.cancel(workflow_id, by="benchmark")
        await workflow.finalize(store, workflow_id, by="benchmark")
        await store.remove(workflow_id)
    await store.backend.close()
    return rate, times


def _granted(answer: Lease | Refusal) -> Lease:
    if isinstance(answer, Refusal):
        raise RuntimeError(f"the raw lease was refused: {answer.code}")
    return answer
