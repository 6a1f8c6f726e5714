"""Batches on a real graph: written any number of times they are there once, and counted once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from integration.knowledge.world import (
    DAY_MS,
    START,
    dump,
    outcome,
    run_fact,
    stats,
    sums,
    write,
)

from dcf.knowledge import GraphConnection, GraphRefused, Knowledge, Outcome

MANY = [outcome(number) for number in range(60)]


async def test_the_sums_are_those_of_the_outcomes(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        for at in range(0, 60, 20):
            await write(graph, *MANY[at : at + 20])
        assert await stats(graph) == await stats(graph, "STAT_DAY") == sums(MANY)


async def test_a_batch_written_twice_changes_nothing(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, *MANY)
        before = await dump(graph)
        await write(graph, *MANY)
        await write(graph, *MANY[:7], *MANY[:7])
        assert await dump(graph) == before


async def test_writers_at_the_same_time_count_each_outcome_once(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph, GraphConnection(graph_url) as other:
        await asyncio.gather(
            *(write(one, *MANY[at : at + 20]) for at in range(0, 60, 10) for one in (graph, other))
        )
        assert await stats(graph) == await stats(graph, "STAT_DAY") == sums(MANY)


async def test_what_is_told_differently_later_is_counted_as_it_is_told_last(
    graph_url: str,
) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, *MANY)
        changed = [
            replace(one, status="failed", error="Late", task_type="other", duration_ms=1)
            for one in MANY[:10]
        ]
        await write(graph, *changed)
        last = [*changed, *MANY[10:]]
        assert await stats(graph) == await stats(graph, "STAT_DAY") == sums(last)
        mentioned = await graph.read(
            "MATCH (e:Episodic {uuid: $uuid})-[:MENTIONS]->(t:TaskType) RETURN t.name",
            uuid=changed[0].id,
        )
        assert mentioned == [["other"]]


async def test_a_fact_that_nothing_supports_any_more_is_over_and_may_come_back(
    graph_url: str,
) -> None:
    async def failed_at(graph: GraphConnection) -> list[object]:
        (row,) = await graph.read(
            "MATCH (s:SkillVersion)-[x:RELATES_TO {name: 'FAILED_AT'}]->(t:TaskType) "
            "RETURN s.name, t.name, x.support, x.invalid_at, x.valid_at"
        )
        return row

    async with GraphConnection(graph_url) as graph:
        failed = outcome(1, status="failed", error="Boom")
        await write(graph, failed)
        since = "2026-09-21T14:23:20+00:00"
        assert await failed_at(graph) == ["skill.pay@1.1.0", "task1", 1, None, since]
        await write(graph, outcome(1, status="done", error=None))
        assert await failed_at(graph) == ["skill.pay@1.1.0", "task1", 0, since, since]
        await write(graph, failed)
        assert await failed_at(graph) == ["skill.pay@1.1.0", "task1", 1, None, since]


@pytest.mark.parametrize("late", [False, True])
async def test_a_redriven_run_takes_its_earlier_end_back(graph_url: str, late: bool) -> None:
    first = run_fact()
    second = run_fact(redrives=1, status="succeeded", error=None, ended_at=START + 9_000)
    async with Knowledge.open(graph_url) as knowledge:
        for one in (second, first) if late else (first, second):
            await write(knowledge.graph, one)
        assert [one async for one in knowledge.runs()] == [replace(second, cause="it broke")]
        assert len([one async for one in knowledge.runs(replaced=True)]) == 2
        (fact,) = await knowledge.graph.read(
            "MATCH (:Workflow)-[x:RELATES_TO {name: 'ENDED_WITH'}]->(:ErrorKind) "
            "RETURN x.support, x.invalid_at IS NULL"
        )
        assert fact == [0, False]


async def test_outcomes_come_back_as_they_were_written_in_order(graph_url: str) -> None:
    async with Knowledge.open(graph_url) as knowledge:
        await write(knowledge.graph, *reversed(MANY))
        assert [one async for one in knowledge.outcomes(page=7)] == MANY
        found = [one async for one in knowledge.outcomes(task_type="task1", since=START + DAY_MS)]
        assert (
            found
            == []
            == [one for one in MANY if one.task_type == "task1" and one.ended_at >= START + DAY_MS]
        )
        chosen = [one async for one in knowledge.outcomes(skill="skill.pay@1.1.0", workflow="w1")]
        assert chosen == [one for one in MANY if one.skills == ("skill.pay@1.1.0",)]
        assert len([one async for one in knowledge.outcomes(skill="skill.pay")]) == 60
        until = MANY[30].ended_at
        assert [one async for one in knowledge.outcomes(until=until)] == MANY[:30]


async def test_an_outcome_may_say_hardly_anything(graph_url: str) -> None:
    bare = outcome(
        1, skills=(), agent=None, cost_usd=None, tokens=None, tool_calls=None, tier=None,
        fcs=None, model=None, escalated=False, state='"quoted"\n', cause="a\\b",
    )  # fmt: skip
    async with Knowledge.open(graph_url) as knowledge:
        await write(knowledge.graph, bare)
        assert [one async for one in knowledge.outcomes()] == [bare]


async def test_records_count_days_and_know_what_was_measured(graph_url: str) -> None:
    outcomes: list[Outcome] = [
        outcome(number, skills=("a@1.0.0",), task_type="t", ended_at=START + number * DAY_MS)
        for number in range(10)
    ]
    async with Knowledge.open(graph_url) as knowledge:
        await write(knowledge.graph, *outcomes)
        now = outcomes[-1].ended_at
        (record,) = (await knowledge.records("t", now=now)).values()
        assert (record.n, record.last_at) == (10, now)
        late = await knowledge.records("t", since=START + 6 * DAY_MS, now=now)
        assert {name: one.n for name, one in late.items()} == {"a@1.0.0": 4}
        assert await knowledge.records("nothing", now=now) == {}


async def test_an_empty_graph_has_nothing(graph_url: str) -> None:
    async with Knowledge.open(graph_url) as knowledge:
        assert [one async for one in knowledge.outcomes()] == []
        assert await knowledge.insights() == []
        assert await knowledge.records("t", now=START) == {}


async def test_a_query_that_fails_is_told_and_undoes_itself(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        with pytest.raises(GraphRefused):
            await graph.write(
                ["CREATE (:A)", "MATCH (a:A) SET a.x = 1 WITH a RETURN toInteger([])"]
            )
        assert await graph.read("MATCH (a:A) RETURN a.x") == [[None]]
