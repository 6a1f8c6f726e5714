"""Outcomes to write, and what a graph must say of them, counted another way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from integration.worker.crew import Crew
from unit.workflow.stage import catch, document_of, flow, passing

from control_plane import Store
from dcf.knowledge import GraphConnection, Outcome, Privacy, RunFact, load_embedder
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.reading import RunReader
from dcf.knowledge.telling import tell_outcome, tell_run
from dcf.workflow import Failed, Succeeded, Task, finalize, submit
from dcf.workflow import Outcome as Work

START = 1_790_000_000_000
DAY_MS = 86_400_000


@cache
def meanings() -> Meanings:
    """The weights are loaded once for all tests."""
    return Meanings(load_embedder())


def outcome(number: int, **changes: Any) -> Outcome:
    """One of many: other skills, tasks and ends from number to number."""
    rng = random.Random(number)
    ok = rng.random() < 0.8
    ended = START + number * 600_000
    fields: dict[str, Any] = {
        "run": f"run-{number}/1", "workflow_id": f"run-{number}", "workflow_name": f"w{number % 3}",
        "path": "Pay", "state": "Pay", "visit": 1, "tries": 1 + number % 2,
        "task_type": f"task{number % 4}", "skills": (f"skill.pay@1.{number % 3}.0",),
        "agent": "worker", "status": "done" if ok else "failed",
        "error": None if ok else "Boom", "cause": None if ok else "it broke",
        "started_at": ended - 100 - number, "ended_at": ended, "duration_ms": 100 + number,
        "cost_usd": 0.25, "tokens": 10, "tool_calls": 1, "tier": 1, "fcs": 20.5,
        "escalated": number % 5 == 0, "model": "small",
    }  # fmt: skip
    return Outcome(**{**fields, **changes})


def run_fact(**changes: Any) -> RunFact:
    fields: dict[str, Any] = {
        "run": "run-1/1", "redrives": 0, "workflow_id": "run-1", "workflow_name": "w1",
        "version": "1.0.0", "digest": "d", "status": "failed", "started_at": START,
        "ended_at": START + 5_000, "duration_ms": 5_000, "states": {"failed": 1, "total": 1},
        "cost_usd": 0.5, "tokens": 10, "error": "Boom", "cause": "it broke", "sop": None,
    }  # fmt: skip
    return RunFact(**{**fields, **changes})


def sums(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], Counter[str]]:
    """(version, task type) -> what STAT must hold."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for one in {one.id: one for one in outcomes}.values():
        for skill in one.skills:
            total = found.setdefault((skill, one.task_type), Counter())
            total.update(
                n=1, ok=int(one.ok), duration_ms=one.duration_ms, tokens=one.tokens or 0,
                duration_ok_ms=one.duration_ms if one.ok else 0, tries=one.tries,
                escalated=int(one.escalated),
            )  # fmt: skip
    return {pair: +total for pair, total in found.items()}


async def stats(graph: GraphConnection, edge: str = "STAT") -> dict[tuple[str, str], Counter[str]]:
    """What the graph holds, over all days."""
    names = ("n", "ok", "duration_ms", "tokens", "duration_ok_ms", "tries", "escalated")
    fields = ", ".join(f"k.{name}" for name in names)
    rows = await graph.read(
        f"MATCH (s:SkillVersion)-[k:{edge}]->(t:TaskType) RETURN s.name, t.name, {fields}"
    )
    found: dict[tuple[str, str], Counter[str]] = {}
    for skill, task, *values in rows:
        found.setdefault((skill, task), Counter()).update(dict(zip(names, values, strict=True)))
    return {pair: +total for pair, total in found.items() if total["n"]}


async def dump(graph: GraphConnection) -> tuple[Any, ...]:
    """Every node and edge, comparable."""
    nodes = await graph.read("MATCH (n) RETURN labels(n), properties(n)")
    edges = await graph.read("MATCH (a)-[e]->(b) RETURN a.uuid, type(e), b.uuid, properties(e)")
    return sorted(map(repr, nodes)), sorted(map(repr, edges))


def writer_of(graph: GraphConnection) -> GraphWriter:
    return GraphWriter(graph, meanings(), Privacy(), clock=lambda: START)


async def write(graph: GraphConnection, *told: Outcome | RunFact) -> None:
    """Write outcomes and runs as one batch."""
    episodes = [tell_run(one) if isinstance(one, RunFact) else tell_outcome(one) for one in told]
    await writer_of(graph).episodes(episodes)


class Agents:
    """Performs Tasks with a binding; those whose input is odd fail."""

    async def perform(self, given: Task, _beat: Any) -> Work:
        spent = {"estimated_cost_usd": 0.25, "total_tokens": 10}
        if given.arguments % 2:
            return Failed("Boom", "mail ann@mail.example", metrics=spent)
        return Succeeded("ok", metrics=spent)


def bound(skill: str) -> dict[str, Any]:
    """A Task that an agent does."""
    return {"Type": "Task", "AgentBinding": {"skills": [skill]}, **catch("Z")}


async def play_runs(crew: Crew, count: int, start: int = 0) -> list[str]:
    """Runs with two Tasks each, by a worker of ``crew``; their ids, when all are sealed."""
    ids = [f"run-{number}" for number in range(start, start + count)]
    store = crew.store
    for number, workflow_id in enumerate(ids, start):
        definition = flow(
            A=bound(f"skill.pay@1.{number % 3}.0") | {"ResultPath": None},
            B=bound("skill.check@1.0.0"),
            Z=passing(),
        )
        await submit(store, document_of(definition), number, workflow_id=workflow_id)
    for workflow_id in ids:
        await crew.end(workflow_id)
        await finalize(store, workflow_id, by="test")
    return ids


async def told_by(store: Store, ids: Iterable[str]) -> list[Outcome]:
    """What the documents of runs say, read without any graph."""
    reader = RunReader(store, Privacy())
    return [
        outcome
        for workflow_id in ids
        async for outcome in reader.tell(await store.run(workflow_id))
        if isinstance(outcome, Outcome)
    ]
