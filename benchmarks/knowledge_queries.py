"""How long questions to a graph of many outcomes take.

    .venv/bin/python benchmarks/knowledge_queries.py [--outcomes 50000] [--rounds 100]

A graph server of its own is started in a temporary folder and filled with outcomes of 60 versions
of 20 skills at 20 kinds of task over 90 days; a version that is worse comes on day 60. Printed are
p50 and p95 of each question in milliseconds, from asking to the last row in Python, and the means
of the processor time that it takes here and in the server: those say what a question costs on a
machine that has other work as well.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from control_plane.embedded import Embedded
from dcf.evidence import quantile
from dcf.knowledge import GraphConnection, Knowledge, Outcome, Privacy, RunFact, load_embedder
from dcf.knowledge.asking import (
    Asker,
    Narrowed,
    account_of,
    chosen,
    crossing,
    exported,
    overview,
    ranking,
    runs_like,
    what_changed,
    why,
)
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.graphiti import GraphitiSearch
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.telling import tell_outcome, tell_run

START = 1_790_000_000_000
DAYS = 90
DAY_MS = 86_400_000
BATCH = 250
_ERRORS = ("Payments.Timeout", "DCF.ToolTimeout", "States.Timeout", "Mail.Bounced", "Boom")


def outcome(number: int, total: int) -> Outcome:
    """Outcome ``number`` of ``total``, in the order of time."""
    rng = random.Random(number)
    task = rng.randrange(20)
    at = START + number * DAYS * DAY_MS // total
    late = at > START + 60 * DAY_MS
    version = rng.randrange(2) if not late else rng.randrange(3)
    ok = rng.random() < (0.45 if version == 2 else 0.9)
    error = None if ok else rng.choice(_ERRORS)
    return Outcome(
        run=f"run-{number}/1", workflow_id=f"run-{number}", workflow_name=f"flow-{task % 7}",
        path="Work", state="Work", visit=1, tries=1 + (rng.random() < 0.1),
        task_type=f"shop.task_{task}", skills=(f"skill.shop.task_{task}@{version + 1}.0.0",),
        agent=f"agent-{rng.randrange(8)}", status="done" if ok else "failed", error=error,
        cause=None if ok else f"no answer from host 'h{number % 50}' after {number % 900} ms",
        started_at=at - 900, ended_at=at, duration_ms=rng.randrange(200, 9_000), cost_usd=0.01,
        tokens=900, tool_calls=2, tier=rng.randrange(3), fcs=20.0, escalated=False, model="small",
    )  # fmt: skip


def end(one: Outcome) -> RunFact:
    """The end of its run."""
    return RunFact(
        run=one.run, redrives=0, workflow_id=one.workflow_id, workflow_name=one.workflow_name,
        version="1", digest="d" * 64, status="succeeded" if one.ok else "failed",
        started_at=one.started_at, ended_at=one.ended_at + 1, duration_ms=one.duration_ms,
        states={"total": 1}, cost_usd=0.01, tokens=900, error=one.error, cause=one.cause,
    )  # fmt: skip


async def fill(graph: GraphConnection, count: int) -> None:
    """Write ``count`` outcomes, every tenth with the end of its run."""
    writer = GraphWriter(graph, Meanings(load_embedder()), Privacy(), clock=lambda: START)
    began = time.perf_counter()
    for first in range(0, count, BATCH):
        told = [outcome(number, count) for number in range(first, min(first + BATCH, count))]
        ends = [tell_run(end(one)) for one in told[::10]]
        await writer.episodes([*map(tell_outcome, told), *ends])
    spent = time.perf_counter() - began
    print(f"{count:,} outcomes written in {spent:.0f} s, {count / spent:.0f}/s", flush=True)


class Clock:
    """Measures questions to the server of ``client``."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def measure(
        self, name: str, rounds: int, question: Callable[[int], Awaitable[Any]]
    ) -> None:
        """Ask ``rounds`` times, with another number each time."""
        await question(0)
        times = []
        here, there = time.process_time(), await self._server_s()
        for number in range(rounds):
            began = time.perf_counter()
            await question(number)
            times.append((time.perf_counter() - began) * 1e3)
        here = (time.process_time() - here) * 1e3 / rounds
        there = (await self._server_s() - there) * 1e3 / rounds
        times.sort()
        p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
        print(f"{name:<37} {p50:9.2f} {p95:9.2f} {here:9.2f} {there:9.2f} {rounds:6}", flush=True)

    async def _server_s(self) -> float:
        """The processor time that the server has taken, in all its threads."""
        found = await self._client.info("cpu")
        return float(found["used_cpu_user"] + found["used_cpu_sys"])


async def ask_all(graph: GraphConnection, clock: Clock, url: str, count: int, rounds: int) -> None:
    """Every question."""
    embedder = load_embedder()
    few = max(5, rounds // 10)
    everything = chosen(())

    def task(number: int) -> str:
        return f"shop.task_{number % 20}"

    failed = [number for number in range(count - 2_000, count) if not outcome(number, count).ok]
    recent = START + 80 * DAY_MS

    async def given() -> Any:
        return embedder

    async def whole_export(_: int) -> None:
        async for _line in exported(graph, everything):
            pass

    asker = Asker(Knowledge(graph), given)
    knowledge = Knowledge(graph)
    print(f"{'question':<37} {'p50 ms':>9} {'p95 ms':>9} {'CPU here':>9} {'server':>9} rounds")
    await clock.measure("ranking of a task", rounds * 5,
                        lambda n: ranking(graph, task_type=task(n)))  # fmt: skip
    await clock.measure("ranking of all tasks", rounds, lambda _: ranking(graph))
    await clock.measure("ranking of a task, 10 days", rounds,
                        lambda n: ranking(graph, task_type=task(n), since=recent))  # fmt: skip
    await clock.measure("records of a task, all days", rounds,
                        lambda n: knowledge.records(task(n), now=START + 90 * DAY_MS))  # fmt: skip
    await clock.measure("a run", rounds, lambda n: account_of(graph, f"run-{n * 37 % count}"))
    await clock.measure("why a run failed", few, lambda n: why(graph, f"run-{failed[n]}"))
    await clock.measure("runs alike", few, lambda n: runs_like(graph, f"run-{failed[n]}", embedder))
    await clock.measure("what changed, one task", few,
                        lambda n: what_changed(graph, Narrowed(task_type=task(n))))  # fmt: skip
    await clock.measure("what changed, everything", few, lambda _: what_changed(graph, Narrowed()))
    await clock.measure("skill x agent x error of a task", few,
                        lambda n: crossing(graph, ["skill", "agent", "error"],
                                           Narrowed(task_type=task(n))))  # fmt: skip
    await clock.measure("skill x agent x error of everything", few,
                        lambda _: crossing(graph, ["skill", "agent", "error"]))  # fmt: skip
    await clock.measure("overview", few, lambda _: overview(graph, everything))
    await clock.measure("asked in words: the best version", few,
                        lambda n: asker.ask(f"best version for {task(n)}"))  # fmt: skip
    await clock.measure("the whole export", 1, whole_export)
    async with GraphitiSearch.open(url) as search:

        async def facts(number: int) -> None:
            await search.facts(f"which version failed at {task(number)}", everything)

        async def nodes(number: int) -> None:
            await search.nodes(f"version of {task(number)}", everything)

        await clock.measure("Graphiti: facts", few, facts)
        await clock.measure("Graphiti: entities", few, nodes)


async def main() -> None:
    """Fill, ask, and say how much memory it took."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outcomes", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dcf-bench-", dir="/tmp") as folder:
        server = Embedded(Path(folder)).graph
        address = await server.start()
        try:
            async with GraphConnection(address.url) as graph, Redis.from_url(address.url) as client:
                await fill(graph, options.outcomes)
                clock = Clock(client)
                await ask_all(graph, clock, address.url, options.outcomes, options.rounds)
            status = await server.status()
            print(f"the server holds {(status.memory_bytes or 0) / 1e6:.0f} MB")
        finally:
            await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
