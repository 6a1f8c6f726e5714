"""What sessions tell, written into the graph, and how long questions about them take.

    .venv/bin/python benchmarks/knowledge_sessions.py [--delegations 10000] [--rounds 50]

A graph server of its own is started in a temporary folder. Delegated tasks come 50 to a session, by
five companions of three specializations, at ten kinds of task, each with the outcome of its run.
Printed are the rate and the memory of the delegations, and p50 and p95 of each question in ms.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from control_plane.embedded import Embedded
from dcf.evidence import quantile
from dcf.knowledge import (
    DelegationFact,
    GraphConnection,
    Knowledge,
    Outcome,
    Privacy,
    SessionFact,
    load_embedder,
)
from dcf.knowledge.asking import delegations_counted, session_account, sessions_past
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.telling import tell_outcome

START = 1_790_000_000_000
TASKS = 50
BATCH = 100
_SPECIALIZATIONS = ("research", "writing", "post")


def delegation(number: int) -> DelegationFact:
    """Task ``number``; one in five fails."""
    rng = random.Random(number)
    session, companion, kind = number // TASKS, rng.randrange(5), rng.randrange(10)
    at = START + number * 60_000
    failed = rng.random() < 0.2
    return DelegationFact(
        task_id=f"t-{number}", session_id=f"s-{session}", conductor_id="conductor-1",
        task_type=f"task{kind}", status="failed" if failed else "succeeded", delegated_at=at,
        started_at=at + 50, finished_at=at + 9_000, companion_id=f"companion-{session}-{companion}",
        companion_name=f"c{companion}", specialization=_SPECIALIZATIONS[companion % 3],
        skills=(f"skill.s{kind}@1.{rng.randrange(3)}.0",),
        error_code=f"Error{kind}" if failed else None, cost_usd=0.01, tokens=900,
    )  # fmt: skip


def run_of(told: DelegationFact) -> Outcome:
    """The outcome of a task's run."""
    began = told.started_at or told.delegated_at
    return Outcome(
        run=f"{told.run}/1", workflow_id=told.run, workflow_name=f"task:{told.task_type}",
        path=told.task_type, state=told.task_type, visit=1, tries=1, task_type=told.task_type,
        skills=told.skills, agent="companion", status="done" if told.ok else "failed",
        error=told.error_code, cause=None, started_at=began, ended_at=told.finished_at,
        duration_ms=told.finished_at - began, cost_usd=told.cost_usd, tokens=told.tokens,
        session=told.session_id,
    )  # fmt: skip


async def fill(graph: GraphConnection, embedded: Embedded, count: int) -> None:
    """``count`` delegations and their sessions, after the outcomes of their runs."""
    writer = GraphWriter(graph, Meanings(load_embedder()), Privacy(), clock=lambda: START)
    told = [delegation(number) for number in range(count)]
    for at in range(0, count, BATCH):
        await writer.episodes([tell_outcome(run_of(one)) for one in told[at : at + BATCH]])
    empty = (await embedded.graph.status()).memory_bytes or 0
    began = time.perf_counter()
    for at in range(0, count, BATCH):
        await writer.session_records([(one, at + n) for n, one in enumerate(told[at : at + BATCH])])
    took = time.perf_counter() - began
    sessions = [
        (SessionFact(f"s-{n}", "conductor-1", f"objective {n}", "completed", START), count + n)
        for n in range(count // TASKS)
    ]
    for at in range(0, len(sessions), BATCH):
        await writer.session_records(sessions[at : at + BATCH])
    await graph.synced()
    used = (await embedded.graph.status()).memory_bytes or 0
    print(
        f"{count} delegations in {took:.1f} s: {count / took:.0f}/s, "
        f"{(used - empty) / count / 1e3:.1f} kB each"
    )


async def measure(title: str, rounds: int, ask: Callable[[int], Awaitable[object]]) -> None:
    """Print how long ``ask`` takes."""
    taken = []
    for number in range(rounds):
        began = time.perf_counter()
        await ask(number)
        taken.append(1000 * (time.perf_counter() - began))
    taken.sort()
    print(f"{title}: p50 {quantile(taken, 0.5):.1f} ms, p95 {quantile(taken, 0.95):.1f} ms")


async def main() -> None:
    """Fill and ask."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--delegations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=50)
    given = parser.parse_args()
    now = START + given.delegations * 60_000
    some = ["task1", "task2", "task3"]
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="dcf-b-") as home:
        embedded = Embedded(Path(home))
        address = await embedded.graph.start()
        async with Knowledge.open(address.url) as knowledge:
            graph = knowledge.graph
            await fill(graph, embedded, given.delegations)
            rounds = given.rounds
            await measure("a session", rounds, lambda n: session_account(graph, f"s-{n}"))
            await measure(
                "delegations by companion and kind of task",
                rounds,
                lambda _: delegations_counted(graph, ["companion", "task_type"]),
            )
            await measure(
                "what other sessions know of three kinds of task",
                rounds,
                lambda n: sessions_past(graph, excluding=f"s-{n}", task_types=some, now=now),
            )
            await measure(
                "what other sessions know",
                rounds,
                lambda n: sessions_past(graph, excluding=f"s-{n}", now=now),
            )
        await embedded.graph.stop()


if __name__ == "__main__":
    asyncio.run(main())
