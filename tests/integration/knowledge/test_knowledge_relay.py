"""From the outbox on a real Redis to a real graph: nothing is lost, nothing is counted twice, and
nobody waits for the graph."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from integration.knowledge.world import (
    START,
    Agents,
    dump,
    meanings,
    play_runs,
    stats,
    sums,
    told_by,
)
from integration.worker.crew import Crew, crew_on

from control_plane import Outbox, Refusal
from control_plane.embedded import Embedded
from dcf.knowledge import (
    INSIGHT,
    GraphAway,
    GraphSetting,
    InsightFact,
    Knowledge,
    Privacy,
    Relay,
    relay_for_ever,
)
from dcf.workflow import redrive


@pytest.fixture
async def crew(redis_url: str) -> AsyncIterator[Crew]:
    async with crew_on(redis_url, outbox=True) as opened:
        opened.worker(agents=Agents())
        yield opened


def relay_of(crew: Crew, knowledge: Knowledge, name: str = "r1") -> Relay:
    return Relay(
        crew.store, knowledge.graph, Privacy(), name=name, clock=lambda: START,
        meanings=meanings(),
    )  # fmt: skip


async def test_what_ended_is_in_the_graph_and_may_then_be_removed(
    crew: Crew, graph_url: str
) -> None:
    ids = await play_runs(crew, 6)
    expected = await told_by(crew.store, ids)
    async with Knowledge.open(graph_url) as knowledge:
        assert await crew.store.remove(ids[0]) == Refusal("not_exported")
        done = await relay_of(crew, knowledge).drain()
        assert (done.runs, done.outcomes, done.refused) == (6, 9, 0)
        assert await stats(knowledge.graph) == sums(expected)
        assert sorted([one async for one in knowledge.outcomes()], key=lambda one: one.id) == (
            sorted(expected, key=lambda one: one.id)
        )
        assert {run.workflow_id async for run in knowledge.runs()} == set(ids)
        assert (await Outbox(crew.store.backend).lag()).waiting == 0
        assert await crew.store.remove(ids[0]) is None


async def test_no_address_of_a_person_gets_into_the_graph(crew: Crew, graph_url: str) -> None:
    await play_runs(crew, 2)
    async with Knowledge.open(graph_url) as knowledge:
        await relay_of(crew, knowledge).drain()
        causes = {one.cause async for one in knowledge.outcomes()}
        assert causes == {None, "mail [email]"}
        assert "ann@" not in str(await dump(knowledge.graph))


async def test_a_reader_that_dies_before_it_settles_loses_nothing_and_counts_nothing_twice(
    crew: Crew, graph_url: str
) -> None:
    ids = await play_runs(crew, 6)
    async with Knowledge.open(graph_url) as knowledge:
        dying = relay_of(crew, knowledge, "dying")
        await dying.outbox.open()
        await dying.write(await dying.outbox.read(4))
        next_one = relay_of(crew, knowledge, "next")
        done = await next_one.drain()
        assert done.runs == 6
        assert await stats(knowledge.graph) == sums(await told_by(crew.store, ids))
        # The first one was only slow.
        await dying.settle()
        assert (await Outbox(crew.store.backend).lag()).waiting == 0


async def test_two_readers_at_the_same_time_count_once(crew: Crew, graph_url: str) -> None:
    ids = await play_runs(crew, 20)
    async with Knowledge.open(graph_url) as one, Knowledge.open(graph_url) as other:
        await asyncio.gather(
            *(relay_of(crew, at, f"r{n}").drain() for n, at in enumerate([one, other, one]))
        )
        assert await stats(one.graph) == sums(await told_by(crew.store, ids))


async def test_a_redriven_run_is_told_anew(crew: Crew, graph_url: str) -> None:
    from unit.workflow.stage import document_of, flow

    from dcf.workflow import finalize, submit

    definition = flow(A={"Type": "Task", "AgentBinding": {"skills": ["skill.pay@1.0.0"]}})
    await submit(crew.store, document_of(definition), 1, workflow_id="r")
    await crew.end("r")
    await finalize(crew.store, "r", by="test")
    async with Knowledge.open(graph_url) as knowledge:
        await relay_of(crew, knowledge).drain()
        await redrive(crew.store, "r")
        assert [run.redrives async for run in knowledge.runs()] == [0]
        await crew.end("r")
        await finalize(crew.store, "r", by="test")
        await relay_of(crew, knowledge).drain()
        assert [run.redrives async for run in knowledge.runs()] == [1]
        assert [run.redrives async for run in knowledge.runs(replaced=True)] == [0, 1]
        visits = [(one.visit, one.status) async for one in knowledge.outcomes()]
        assert visits == [(1, "failed"), (2, "failed")]


async def test_what_nobody_can_write_is_put_aside_and_the_rest_is_written(
    crew: Crew, graph_url: str
) -> None:
    await play_runs(crew, 1)
    outbox = Outbox(crew.store.backend)
    await outbox.put("weather", "w1", {"sun": True})
    await outbox.put(INSIGHT, "i1", {"nothing": "of use"})
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
    assert (done.runs, done.refused) == (1, 2)
    lag = await outbox.lag()
    assert (lag.waiting, lag.refused) == (0, 2)


async def test_a_run_that_nobody_understands_holds_up_no_other(crew: Crew, graph_url: str) -> None:
    ids = await play_runs(crew, 3)
    key = crew.store.keys(ids[1]).state("A")
    await crew.store.backend.command("JSON.DEL", key, "$.times")
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
        assert (done.runs, done.refused) == (2, 1)
        assert {run.workflow_id async for run in knowledge.runs()} == {ids[0], ids[2]}
    assert (await crew.store.run(ids[1])).outbox == "refused"
    assert await crew.store.remove(ids[1]) == Refusal("not_exported")


async def test_a_definition_that_is_gone_leaves_what_the_run_itself_says(
    crew: Crew, graph_url: str
) -> None:
    (run_id,) = await play_runs(crew, 1)
    run = await crew.store.run(run_id)
    await crew.store.backend.command("DEL", crew.store.keys(run_id).blob(run.definition))
    async with Knowledge.open(graph_url) as knowledge:
        await relay_of(crew, knowledge).drain()
        assert {one.skills async for one in knowledge.outcomes()} == {
            ("skill.pay@1.0.0",), ("skill.check@1.0.0",)
        }  # fmt: skip


async def test_insights_are_written_replaced_and_superseded(crew: Crew, graph_url: str) -> None:
    outbox = Outbox(crew.store.backend)
    first = InsightFact(
        id="i1", category="version", statement="1.1.0 is better, says ann@mail.example",
        confidence=0.9, created_at=START, prefer="skill.pay@1.1.0", task_types=("pay",),
        skills=("skill.pay@1.1.0", "skill.pay"), evidence_runs=("r1", "r2"),
        expires_at=START + 1_000,
    )  # fmt: skip
    later = InsightFact(
        id="i2", category="version", statement="1.2.0 is better still", confidence=0.95,
        created_at=START + 5, supersedes=("i1",), task_types=("pay",),
    )  # fmt: skip
    async with Knowledge.open(graph_url) as knowledge:
        await outbox.put(INSIGHT, "i1", {**first.to_json(), "confidence": 0.5})
        await outbox.put(INSIGHT, "i1", first.to_json())
        await relay_of(crew, knowledge).drain()
        (found,) = await knowledge.insights()
        assert found.to_json() == {
            **first.to_json(),
            "statement": "1.1.0 is better, says [email]",
            "skills": ["skill.pay", "skill.pay@1.1.0"],
        }
        await outbox.put(INSIGHT, "i2", later.to_json())
        await relay_of(crew, knowledge).drain()
        assert [one.id for one in await knowledge.insights()] == ["i2"]
        assert [one.id for one in await knowledge.insights(valid=False)] == ["i2", "i1"]
        valid = await knowledge.graph.read(
            "MATCH (n:Insight)-[x:RELATES_TO {name: 'CONCERNS'}]->() "
            "WHERE x.invalid_at IS NULL RETURN n.insight_id"
        )
        assert valid == [["i2"]]


async def test_the_graph_is_killed_twice_while_runs_end_and_nothing_is_lost(
    crew: Crew, short_dir: Path
) -> None:
    env = {"DCF_HOME": str(short_dir), "DCF_GRAPH": "on"}
    setting = GraphSetting.from_env(env)
    graph = Embedded.from_env(env).graph
    relaying = asyncio.create_task(relay_for_ever(setting, crew.store, Privacy(), name="r1"))
    try:
        ids: list[str] = []
        for round_ in range(3):
            ids += await play_runs(crew, 10, start=10 * round_)
            if round_ < 2:
                async with asyncio.timeout(20):
                    while (pid := (await graph.status()).pid) is None:
                        await asyncio.sleep(0.02)
                os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(30):
            while (await Outbox(crew.store.backend).lag()).waiting:
                await asyncio.sleep(0.05)
        expected = sums(await told_by(crew.store, ids))
        assert sum(one["n"] for one in expected.values()) >= 45
        async with Knowledge.open(setting) as knowledge:
            assert await stats(knowledge.graph) == expected
            assert await stats(knowledge.graph, "STAT_DAY") == expected
    finally:
        relaying.cancel()
        await asyncio.wait([relaying])
        await graph.stop()


async def test_a_graph_that_is_away_is_told_as_such(short_dir: Path) -> None:
    with pytest.raises(GraphAway) as caught:
        async with Knowledge.open(f"unix://:pa55word@{short_dir}/nothing.sock"):
            pass
    assert "pa55word" not in str(caught.value)
