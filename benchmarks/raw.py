"""What the same Redis and the same scripts do without workers: the measure for everything else."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis

from benchmarks.figure import Figure, quantile
from benchmarks.machines import tasks
from benchmarks.runs import document, now, submit
from control_plane import INDEX, Lease, RedisBackend, Refusal, Store, script
from dcf import workflow

RAW = "the raw rate"
_VALUE = {"n": 1}
_REQUEST = (
    '{"run":"%s","path":"%s","visit":1,"token":"%s","fence":%d,"commit_id":"%s","outcome":"done",'
    '"owner":"raw","ttl":30000,"next_token":"%s","steps_limit":1000000,"events_limit":500000,'
    '"next":{"path":"%s","type":"Task"}}'
)
_INPUT = '{"n":1}'
_OUTPUT = '{"ok":true,"data":{"n":1},"summary":null,"artifacts":[],"metrics":{},"error":null}'
_EVENT = '{"type":"StateDone"}'


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
        Figure("hop script, 8 in flight", together, "/s", note=RAW),
        Figure("hop script, one after another", alone, "/s"),
        Figure("hop script, p50", quantile(times, 0.5) * 1000, "ms"),
    ]


async def _hops(url: str, *, chains: int, length: int) -> tuple[float, list[float]]:
    """Rate of hops per second and the time of each in seconds: the commit script with the next
    state leased in place, called with arguments that cost nothing to make."""
    store = Store(RedisBackend.from_url(url), pool="raw")
    client = Redis.from_url(url, decode_responses=True, protocol=2)
    commit = script.load("commit")
    await client.script_load(commit.source)
    ids = await submit(store, document(tasks(length)), chains, _VALUE)
    times: list[float] = []

    async def follow(workflow_id: str) -> None:
        lease = _granted(await store.acquire(workflow_id, "S0", owner="raw"))
        keys = (store.keys(workflow_id).meta, INDEX, "cp:queue:raw")
        token, fence = lease.token, lease.fence
        for number in range(1, length):
            path, following, commit_id = f"S{number - 1}", f"S{number}", f"{number:032x}"
            request = _REQUEST % (workflow_id, path, token, fence, commit_id, commit_id, following)
            before = now()
            answer = await client.evalsha(
                commit.sha1, 3, *keys, request, _OUTPUT, _INPUT, _EVENT, "", "", "", ""
            )
            times.append(now() - before)
            if answer[0] != "ok" or answer[1] != following:
                raise RuntimeError(f"the raw hop was refused: {answer}")
            token, fence = commit_id, int(answer[2])

    leased = now()
    await asyncio.gather(*(follow(workflow_id) for workflow_id in ids))
    rate = chains * (length - 1) / (now() - leased)
    for workflow_id in ids:
        await store.cancel(workflow_id, by="benchmark")
        await workflow.finalize(store, workflow_id, by="benchmark")
        await store.remove(workflow_id)
    await client.aclose()
    await store.backend.close()
    return rate, times


def _granted(answer: Lease | Refusal) -> Lease:
    if isinstance(answer, Refusal):
        raise RuntimeError(f"the raw lease was refused: {answer.code}")
    return answer
