"""Writing outcomes into the graph: through the outbox while the server is killed, and many.

    .venv/bin/python benchmarks/knowledge_writing.py [--many 50000]

First 1,000 outcomes of 500 runs go from a real Redis through the outbox into a graph server that is
killed (SIGKILL) twice on the way; the rate counts the time while the server is up. Then many more
are written directly; printed are rate, memory, and how long a ranking and a look-up then take.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from control_plane import HintQueue, Outbox, RedisBackend, Store
from control_plane.embedded import Embedded
from dcf.knowledge import GraphAway, GraphSetting, Knowledge, Outcome, Privacy, Relay, load_embedder
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.meaning import Meanings
from dcf.knowledge.reading import RunReader
from dcf.knowledge.telling import tell_outcome
from dcf.worker import LeaseKeeper, Performer, Worker, WorkerConfig
from dcf.workflow import Choreographer, Failed, Succeeded, Task, finalize, load, submit, wait

RUNS = 500
START = 1_790_000_000_000
_RANKING = (
    "MATCH (t:TaskType {name: $task})<-[k:STAT]-(s:SkillVersion) "
    "RETURN s.name, k.ok, k.n ORDER BY toFloat(k.ok) / k.n DESC"
)


class Agents:
    """Performs Tasks; one in five fails."""

    async def perform(self, task: Task, _beat: Any) -> Succeeded | Failed:
        if task.arguments % 5 == 0:
            return Failed("Boom", "it broke")
        return Succeeded("ok", metrics={"total_tokens": 10, "estimated_cost_usd": 0.25})


def definition(number: int) -> str:
    """A workflow of two Tasks."""

    def state(skill: str, following: str) -> str:
        return (
            f'{{"Type": "Task", "AgentBinding": {{"skills": ["{skill}"]}}, "ResultPath": null, '
            f'"Catch": [{{"ErrorEquals": ["States.ALL"], "ResultPath": null, '
            f'"Next": "{following}"}}], "Next": "{following}"}}'
        )

    first = state(f"skill.pay@1.{number % 3}.0", "B")
    return f"""{{"StartAt": "A", "States": {{"A": {first}, "B": {state("skill.check@1.0.0", "Z")},
        "Z": {{"Type": "Pass", "End": true}}}}}}"""


async def play(store: Store, backend: RedisBackend) -> list[str]:
    """Runs that ended and were sealed."""
    keeper = LeaseKeeper(store, now=time.monotonic)
    queue = HintQueue(backend, pool="default", consumer="w1")
    worker = Worker(
        "w1", store, queue, keeper, Choreographer(store, rng=random.Random(1)),
        Performer({}, Agents()), now=time.monotonic, config=WorkerConfig(concurrency=16),
    )  # fmt: skip
    working = [asyncio.create_task(part.run()) for part in (keeper, worker)]
    ids = [f"run-{number}" for number in range(RUNS)]
    for number, workflow_id in enumerate(ids):
        document = load(definition(number), file="flow.json")
        await submit(store, document, number, workflow_id=workflow_id)
    for workflow_id in ids:
        await wait(store, workflow_id, poll_s=0.01)
        await finalize(store, workflow_id, by="benchmark")
    for task in working:
        task.cancel()
    return ids


async def through_the_outbox(home: Path) -> None:
    """1,000 outcomes while the server is killed twice."""
    env = {"DCF_HOME": str(home), "DCF_GRAPH": "on"}
    embedded, setting = Embedded.from_env(env), GraphSetting.from_env(env)
    address = await embedded.start()
    backend = RedisBackend.from_url(address.url)
    store = Store(backend, outbox=True)
    began = time.perf_counter()
    ids = await play(store, backend)
    print(f"{RUNS} runs played in {time.perf_counter() - began:.1f} s")
    meanings, up_s, kills = Meanings(load_embedder()), 0.0, 0
    written = 0
    while (await Outbox(backend).lag()).waiting:
        async with Knowledge.open(setting) as knowledge:
            relay = Relay(
                store, knowledge.graph, Privacy.from_env(env), name=f"r{kills}",
                clock=lambda: START, meanings=meanings,
            )  # fmt: skip
            killer = asyncio.create_task(_kill(embedded, relay, kills)) if kills < 2 else None
            began = time.perf_counter()
            try:
                await relay.drain()
            except GraphAway as away:
                kills += 1
                print(f"killed: {away}")
            up_s += time.perf_counter() - began
            written += relay.done.outcomes
            if killer is not None:
                killer.cancel()
    expected: Counter[str] = Counter()
    reader = RunReader(store, Privacy())
    for workflow_id in ids:
        async for told in reader.tell(await store.run(workflow_id)):
            if isinstance(told, Outcome):
                expected.update(n=1, ok=int(told.ok))
    async with Knowledge.open(setting) as knowledge:
        row = await knowledge.graph.read(
            "MATCH (:SkillVersion)-[k:STAT]->(:TaskType) RETURN sum(k.n), sum(k.ok)"
        )
    print(
        f"{expected['n']} outcomes, {written} written (some twice), {kills} kills: "
        f"{expected['n'] / up_s:.0f}/s while the server was up; counted {row[0]}, "
        f"expected {[expected['n'], expected['ok']]}"
    )
    await backend.close()
    await embedded.stop()
    await embedded.graph.stop()


async def _kill(embedded: Embedded, relay: Relay, kills: int) -> None:
    while relay.done.runs < 100:  # noqa: ASYNC110 - it is the database that is waited for
        await asyncio.sleep(0.005)
    pid = (await embedded.graph.status()).pid
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


def one_of_many(number: int) -> Outcome:
    """An outcome of 30 task types, 20 skills with three versions, 40 agents."""
    rng = random.Random(number)
    ok = rng.random() < 0.8
    ended = START + number * 60_000
    return Outcome(
        run=f"m-{number // 5}/1", workflow_id=f"m-{number // 5}", workflow_name=f"w{number % 12}",
        path=f"S{number % 5}", state=f"S{number % 5}", visit=1, tries=1,
        task_type=f"task{rng.randrange(30)}",
        skills=(f"skill.s{rng.randrange(20)}@1.{rng.randrange(3)}.0",),
        agent=f"agent{rng.randrange(40)}", status="done" if ok else "failed",
        error=None if ok else f"Error{rng.randrange(9)}", cause=None if ok else "it broke",
        started_at=ended - 900, ended_at=ended, duration_ms=900, cost_usd=0.01, tokens=100,
        tool_calls=2, tier=1, fcs=20.0, model="small",
    )  # fmt: skip


async def many(home: Path, count: int) -> None:
    """``count`` outcomes, memory, and what reads cost then."""
    graph = Embedded(home).graph
    address = await graph.start()
    async with Knowledge.open(address.url) as knowledge:
        empty = (await graph.status()).memory_bytes or 0
        writer = GraphWriter(
            knowledge.graph, Meanings(load_embedder()), Privacy(), clock=lambda: START
        )
        began = time.perf_counter()
        for at in range(0, count, 100):
            await writer.episodes([tell_outcome(one_of_many(n)) for n in range(at, at + 100)])
        await knowledge.graph.synced()
        took = time.perf_counter() - began
        used = (await graph.status()).memory_bytes or 0
        print(
            f"{count} outcomes in {took:.1f} s: {count / took:.0f}/s, "
            f"{used / 1e6:.0f} MB ({(used - empty) / count / 1e3:.1f} kB each)"
        )
        for title, text, given in (
            ("ranking for a task type", _RANKING, {"task": "task7"}),
            ("an episode by id", "MATCH (e:Episodic {uuid: $id}) RETURN e.status",
             {"id": one_of_many(7).id}),
        ):  # fmt: skip
            print(f"{title}: p50 {await _times(knowledge, text, given)}")
        began = time.perf_counter()
        read = sum([1 async for _ in knowledge.outcomes()])
        print(f"{read} outcomes read in {time.perf_counter() - began:.1f} s")
        began = time.perf_counter()
        records = await knowledge.records("task7", now=START + count * 60_000)
        print(f"records of {len(records)} versions in {time.perf_counter() - began:.3f} s")
    await graph.stop()


async def _times(knowledge: Knowledge, text: str, given: dict[str, Any]) -> str:
    taken = []
    for _ in range(500):
        began = time.perf_counter()
        await knowledge.graph.read(text, **given)
        taken.append(1000 * (time.perf_counter() - began))
    taken.sort()
    return f"{taken[250]:.2f} ms, p95 {taken[475]:.2f} ms"


def main() -> None:
    """Both, each in a home of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--many", type=int, default=50_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="dcf-b-") as home:
        asyncio.run(through_the_outbox(Path(home)))
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="dcf-b-") as home:
        asyncio.run(many(Path(home), given.many))


if __name__ == "__main__":
    main()
