"""Batches on a real graph: written any number of times they are there once, and counted once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from random import Random

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
    writer_of,
)

from benchmarks.learning_world import Rollups
from control_plane.embedded import Embedded
from dcf.knowledge import (
    GraphConnection,
    GraphRefused,
    InsightFact,
    Knowledge,
    Outcome,
    TextEpisode,
)
from dcf.knowledge.cypher import query
from dcf.knowledge.schema import RECENT
from dcf.knowledge.telling import tell_outcome
from dcf.knowledge.vocabulary import names_in, naming_query

DONE = {"status": "done", "error": None, "cause": None}
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


async def test_the_newest_outcomes_stand_one_by_one_in_their_order(graph_url: str) -> None:
    # Told out of order, some of them twice, some differently later; two end at the same moment.
    told = [
        outcome(n, task_type="t", skills=("skill.pay@1.0.0",), ended_at=START + n // 2 * 60_000)
        for n in range(RECENT + 40)
    ]
    mixed = Random(5).sample(told, len(told))
    changed = [
        replace(one, status="failed" if one.ok else "done", error=None if not one.ok else "Late")
        for one in told[-20:-10]
    ]
    last = [*told[:-20], *changed, *told[-10:]]
    now = START + DAY_MS
    async with Knowledge.open(graph_url) as knowledge:
        for at in range(0, len(mixed), 60):
            await write(knowledge.graph, *mixed[at : at + 60], *mixed[:5])
        await write(knowledge.graph, *changed)
        ((recent,),) = await knowledge.graph.read("MATCH ()-[k:STAT]->() RETURN k.recent")
        wanted = sorted(2 * one.ended_at + one.ok for one in last)
        # What was told differently may leave a gap at the old end, never another order.
        assert recent == wanted[-len(recent) :]
        assert len(recent) >= RECENT - len(changed)
        await write(knowledge.graph, *last)
        # It is what the simulation of the learning loop goes by.
        rollups = Rollups()
        for one in sorted(told, key=lambda one: one.ended_at):
            rollups.add(one)
        rollups.now = now
    async with GraphConnection(graph_url, graph="again") as graph:
        await write(graph, *mixed)
        found = await Knowledge(graph).records("t", now=now)
        # What is only told, not weighed, is not simulated.
        weighed = {name: replace(one, failed_at=None, mean_ms=None) for name, one in found.items()}
        assert weighed == rollups.records("t")


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
        outcome(
            number,
            skills=("a@1.0.0",),
            task_type="t",
            ended_at=START + number * DAY_MS,
            duration_ms=100 + 10 * number,
            **({"status": "failed", "error": "Boom"} if number in (2, 5) else DONE),
        )
        for number in range(10)
    ]
    async with Knowledge.open(graph_url) as knowledge:
        await write(knowledge.graph, *outcomes)
        now = outcomes[-1].ended_at
        (record,) = (await knowledge.records("t", now=now)).values()
        assert (record.n, record.last_at) == (10, now)
        assert (record.failed_at, record.mean_ms) == (START + 5 * DAY_MS, 145.0)
        late = await knowledge.records("t", since=START + 6 * DAY_MS, now=now)
        assert {name: one.n for name, one in late.items()} == {"a@1.0.0": 4}
        assert await knowledge.records("nothing", now=now) == {}


async def test_an_empty_graph_has_nothing(graph_url: str) -> None:
    async with Knowledge.open(graph_url) as knowledge:
        assert [one async for one in knowledge.outcomes()] == []
        assert await knowledge.insights() == []
        assert await knowledge.records("t", now=START) == {}


async def test_a_batch_of_which_one_query_fails_leaves_nothing(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        with pytest.raises(GraphRefused):
            await graph.write(
                [
                    query("UNWIND $rows AS r CREATE (:A {x: r})", rows=[1, 2]),
                    query("MATCH (a:A) SET a.x = $to WITH a RETURN toInteger([])", to=3),
                ]
            )
        assert await graph.read("MATCH (a:A) RETURN a.x") == []


async def test_a_batch_is_one_command_in_the_file_of_the_server(short_dir: Path) -> None:
    server = Embedded(short_dir).graph
    try:
        async with GraphConnection((await server.start()).url) as graph:
            writer = writer_of(graph)
            await writer.episodes([tell_outcome(one) for one in MANY])
            before = _commands(short_dir)
            await writer.episodes([tell_outcome(replace(one, tries=9)) for one in MANY])
            assert _commands(short_dir)[len(before) :] == ["GRAPH.QUERY"]
            assert "MULTI" not in before
    finally:
        await server.stop()


def _commands(home: Path) -> list[str]:
    """The names of the commands that a kill would leave to be read again, in their order."""
    (file,) = (home / "graph" / "appendonlydir").glob("*.incr.aof")
    names, rest = [], file.read_bytes()
    while rest:
        head, _, rest = rest.partition(b"\r\n")
        words = []
        for _ in range(int(head[1:])):
            size, _, rest = rest.partition(b"\r\n")
            words.append(rest[: int(size[1:])])
            rest = rest[int(size[1:]) + 2 :]
        names.append(words[0].decode())
    return names


async def test_what_a_batch_is_first_to_name_is_found_within_it(graph_url: str) -> None:
    text = TextEpisode(uuid="t1", name="Crane", content="It jams in frost.", at=START)
    over = InsightFact(id="i1", category="c", statement="old", confidence=0.5, created_at=START)
    by = replace(over, id="i2", statement="new", created_at=START + 5, supersedes=("i1",))
    async with GraphConnection(graph_url) as graph:
        writer = writer_of(graph)
        await writer.texts([(text, 1)])
        await writer.insights([(over, 1), (by, 2)])
        assert await graph.read("MATCH (d:Document) RETURN d.name") == [["Crane"]]
        assert [one.id for one in await Knowledge(graph).insights()] == ["i2"]


async def test_nothing_is_left_of_what_makes_names_known(graph_url: str) -> None:
    queries = [query("MATCH (a:X {p: 1})-[r:Y]->() SET a.q = 2")]
    assert names_in(queries) == {":X", "[:Y]", ".p", ".q"}
    async with GraphConnection(graph_url) as graph:
        await graph.write([naming_query(names_in(queries))])
        assert await graph.read("MATCH (n) RETURN n") == []
        assert await graph.read("CALL db.relationshipTypes()") == [["Y"]]
        assert await graph.read("CALL db.labels()") == [["X"]]
        assert sorted(await graph.read("CALL db.propertyKeys()")) == [["p"], ["q"]]
