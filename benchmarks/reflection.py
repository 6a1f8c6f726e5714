"""How long a whole reflection takes: ``python -m benchmarks.reflection [--outcomes 50000]``.

A Redis, a graph server and a memory of their own, in a temporary folder, are filled with outcomes
and with the insights of an earlier reflection. Measured is a second reflection as `dcf reflect`
makes it: outcomes and insights are read from the graph, what became of earlier advice is followed,
guidelines go to the planner's block and insights to the outbox; then its report as a page. Half of
the outcomes first, then all of them: a cost that is linear doubles. The processor times say what it
costs on a machine that has other work as well.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from control_plane import Outbox, RedisBackend, Store
from control_plane.embedded import Embedded
from dcf.advisors import html_of, open_board, reflect, report_of
from dcf.agents import open_runtime
from dcf.agents.templates import template_named
from dcf.knowledge import InsightFact, Knowledge, Outcome, Privacy, drain, load_embedder
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.telling import tell_outcome
from dcf.memory import SYSTEM, Memory, random_id
from dcf.memory import Source as MemoryFile

START = 1_790_000_000_000
STEP_MS = 10_000
BATCH = 250


def outcome(number: int) -> Outcome:
    """One of runs of five tasks each; twenty types of task, three versions each, of which one is
    better than the others."""
    random = Random(number)
    kind, version = number % 20, random.randrange(3)
    ok = random.random() < (0.95 if version == kind % 3 else 0.8)
    ended, took = START + number * STEP_MS, random.randrange(100, 60_000)
    run, step = divmod(number, 5)
    cause = f"order {random.randrange(10**6)} did not answer within {random.randrange(99)} s"
    return Outcome(
        run=f"run-{run}/1", workflow_id=f"run-{run}", workflow_name=f"workflow-{run % 7}",
        path=f"Step{step}", state=f"Step{step}", visit=1, tries=1 + (random.random() < 0.1),
        task_type=f"task-{kind}", skills=(f"skill.work.task{kind}@1.{version}.0",),
        agent=None, status="done" if ok else "failed", error=None if ok else "Work.Failed",
        cause=None if ok else cause, started_at=ended - took, ended_at=ended,
        duration_ms=took, cost_usd=random.random(), tier=random.randrange(3), fcs=20.0,
    )  # fmt: skip


@dataclass
class Timed:
    """What is known of the time before ``until`` (ms), and how long reading it took (seconds)."""

    knowledge: Knowledge
    until: int | None = None
    reading_s: float = 0.0
    count: int = 0

    async def outcomes(self, *, since: int | None = None) -> AsyncIterator[Outcome]:
        began = time.perf_counter()
        async for one in self.knowledge.outcomes(since=since, until=self.until):
            self.reading_s += time.perf_counter() - began
            self.count += 1
            yield one
            began = time.perf_counter()

    async def insights(self) -> list[InsightFact]:
        began = time.perf_counter()
        found = await self.knowledge.insights()
        self.reading_s += time.perf_counter() - began
        return found


class Bench:
    """Everything that a reflection reads and writes."""

    def __init__(self, stack: AsyncExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._filled = 0

    async def open(self) -> None:
        """Start the servers; they end with the stack."""
        embedded = Embedded(self._folder)
        address = await embedded.start()
        self._stack.push_async_callback(embedded.stop)
        graph = await embedded.graph.start()
        self._stack.push_async_callback(embedded.graph.stop)
        self._store = Store(RedisBackend.from_url(address.url))
        self._stack.push_async_callback(self._store.backend.close)
        self._knowledge = await self._stack.enter_async_context(Knowledge.open(graph.url))
        self._server = await self._stack.enter_async_context(Redis.from_url(graph.url))
        self._meanings = Meanings(load_embedder())
        memory = await self._stack.enter_async_context(
            Memory.open(MemoryFile(self._folder / "memory.db"), clock=_now_ms, new_id=random_id)
        )
        runtime = await self._stack.enter_async_context(open_runtime(memory, {}))
        template = template_named("planner")
        planner = await runtime.create(template.new_agent("planner"), template.blocks, by=SYSTEM)
        self._board = await open_board(runtime, planner.id)

    async def fill(self, count: int) -> None:
        """Write outcomes until there are ``count``."""
        writer = GraphWriter(self._knowledge.graph, self._meanings, Privacy(), clock=lambda: START)
        for first in range(self._filled, count, BATCH):
            numbers = range(first, min(first + BATCH, count))
            await writer.episodes([tell_outcome(outcome(number)) for number in numbers])
        self._filled = count

    async def measure(self) -> dict[str, str]:
        """An earlier reflection on three quarters, then the one that counts."""
        early = START + self._filled * 3 // 4 * STEP_MS
        now = START + self._filled * STEP_MS
        sink = Outbox(self._store.backend)
        past = Timed(self._knowledge, until=early)
        await reflect(past, since=START, now=early, board=self._board, sink=sink)
        await drain(self._knowledge, self._store, {})
        timed = Timed(self._knowledge)
        since = START + self._filled // 2 * STEP_MS
        there = await self._server_s()
        began, used = time.perf_counter(), time.process_time()
        found = await reflect(timed, since=since, now=now, board=self._board, sink=sink)
        whole, cpu = time.perf_counter() - began, time.process_time() - used
        there = await self._server_s() - there
        written = time.perf_counter()
        html_of(report_of(found))
        report = time.perf_counter() - written
        assert timed.count == self._filled
        return {
            "outcomes": f"{timed.count:,}",
            "reading them and the insights": f"{timed.reading_s:.2f} s",
            "the whole reflection": f"{whole:.2f} s",
            "for 1,000 outcomes": f"{whole / timed.count * 1e6:.0f} ms",
            "processor time here": f"{cpu:.2f} s",
            "in the graph server": f"{there:.2f} s",
            "its report": f"{report:.2f} s",
            "earlier insights, followed": f"{len(found.given)}, "
            f"{sum(one.followed is not None for one in found.given)}",
            "insights found, published": f"{len(found.insights)}, {len(found.published)}",
        }

    async def _server_s(self) -> float:
        """The processor time that the graph server has taken, in all its threads."""
        found = await self._server.info("cpu")
        return float(found["used_cpu_user"] + found["used_cpu_sys"])


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--outcomes", type=int, default=50_000)
    count = parser.parse_args().outcomes
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dcf-bench-", dir="/tmp"))
        bench = Bench(stack, Path(folder))
        await bench.open()
        measured = []
        for size in (count // 2, count):
            await bench.fill(size)
            measured.append(await bench.measure())
    shown = Table(title="A whole reflection, by the wall clock", show_header=False)
    for name in measured[0]:
        shown.add_row(name, *(one[name] for one in measured))
    Console().print(shown)


if __name__ == "__main__":
    asyncio.run(main())
