"""From the outbox on a real Redis to a real graph: nothing is lost, nothing is counted twice, and
nobody waits for the graph."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from redis.asyncio import Redis

from control_plane import Outbox, Refusal, keys, run_lists, script, sweep_outbox
from control_plane.embedded import Embedded
from control_plane.outbox import GROUP
from dcf.knowledge import (
    INSIGHT,
    TEXT,
    GraphAway,
    GraphSetting,
    GraphSlow,
    InsightFact,
    Knowledge,
    Privacy,
    Relay,
    RelayStuck,
    TextEpisode,
    background,
    drain,
    relay_for_ever,
)
from dcf.knowledge.cypher import query
from dcf.knowledge.graph_writer import GraphWriter
from dcf.knowledge.suspects import IN_A_ROW
from dcf.workflow import redrive

CONCERNING = (
    "MATCH (n:Insight)-[x:RELATES_TO {name: 'CONCERNS'}]->() "
    "WHERE x.invalid_at IS NULL RETURN n.insight_id"
)


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


GOOD = InsightFact("i", "c", "s", 0.5, START).to_json()
GOOD_TEXT = {"uuid": "u", "name": "n", "content": "c", "at": START}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *((INSIGHT, {**GOOD, "created_at": value}) for value in (None, "yesterday", 10**18)),
        *((INSIGHT, {**GOOD, "statement": value}) for value in (5, None, "half \ud800")),
        *((INSIGHT, {**GOOD, "confidence": value}) for value in ("high", 2, True)),
        *((INSIGHT, {**GOOD, name: value}) for name, value in [
            ("task_types", [1]), ("skills", [None]), ("supersedes", [{}]), ("id", None),
            ("evidence", 3), ("taken", "often"),
        ]),
        (INSIGHT, None),
        *((TEXT, {**GOOD_TEXT, "at": at}) for at in (10**15, -(10**15), None)),
        (TEXT, {**GOOD_TEXT, "source_description": 5}),
    ],
)  # fmt: skip
def test_a_record_that_is_not_as_it_should_be_is_told_from_others(kind: str, data: Any) -> None:
    with pytest.raises((TypeError, AttributeError)):
        (InsightFact if kind == INSIGHT else TextEpisode).from_json(data)


async def test_an_error_that_nobody_thought_of_is_one_entrys_fault(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = Outbox(crew.store.backend)
    for name in ("i1", "odd", "i2"):
        await outbox.put(INSIGHT, name, {**GOOD, "id": name})
    await outbox.put(TEXT, "t", GOOD_TEXT)
    await crew.store.backend.command(
        "XADD", keys.OUTBOX_RECORDS, "*", "kind", TEXT, "id", "x", "data", "{no JSON"
    )
    insights = GraphWriter.insights

    async def strict(self: GraphWriter, given: Any) -> None:
        if any(said.id == "odd" for said, _ in given):
            raise ValueError("odd")
        await insights(self, given)

    monkeypatch.setattr(GraphWriter, "insights", strict)
    async with Knowledge.open(graph_url) as knowledge:
        relay = relay_of(crew, knowledge)
        done = await relay.drain()
        assert (done.records, done.refused, relay.held) == (3, 2, [])
        assert {one.id for one in await knowledge.insights()} == {"i1", "i2"}
    assert (await outbox.lag()).waiting == 0


async def put_insights(crew: Crew, names: Iterable[str]) -> Outbox:
    outbox = Outbox(crew.store.backend)
    for name in names:
        await outbox.put(INSIGHT, name, {**GOOD, "id": name})
    return outbox


def odd_ones(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[int]:
    """Makes writing an insight with an odd name fail; how many were given each time."""
    insights, sizes = GraphWriter.insights, list[int]()

    async def strict(self: GraphWriter, given: Any) -> None:
        sizes.append(len(given))
        if any(said.id.startswith("odd") for said, _ in given):
            raise error
        await insights(self, given)

    monkeypatch.setattr(GraphWriter, "insights", strict)
    return sizes


async def test_a_batch_that_is_too_slow_is_halved_until_it_is_not(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await play_runs(crew, 8)
    episodes, sizes = GraphWriter.episodes, list[int]()

    async def slow(self: GraphWriter, given: Any) -> None:
        sizes.append(len(given))
        if len(given) > 3:
            raise GraphSlow(reason="Query timed out")
        await episodes(self, given)

    monkeypatch.setattr(GraphWriter, "episodes", slow)
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
        assert (done.runs, done.refused) == (8, 0)
        assert await stats(knowledge.graph) == sums(await told_by(crew.store, ids))
    # Eight runs with twelve visits: 20 at first; then what the server takes, and seldom more.
    assert sizes[:5] == [20, 10, 5, 2, 3]


async def test_the_server_says_that_a_query_was_too_slow(graph_url: str) -> None:
    async with Knowledge.open(graph_url) as knowledge, Redis.from_url(graph_url) as redis:
        limit = (await redis.execute_command("GRAPH.CONFIG", "GET", "TIMEOUT_DEFAULT"))[1]
        await redis.execute_command("GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", 1)
        try:
            with pytest.raises(GraphSlow):
                await knowledge.graph.write([query("UNWIND range(1, 300000) AS x CREATE (:N)")])
        finally:
            await redis.execute_command("GRAPH.CONFIG", "SET", "TIMEOUT_DEFAULT", limit)
        assert await knowledge.graph.read("MATCH (n:N) RETURN count(n)") in ([], [[0]])


async def test_an_entry_that_is_too_slow_alone_waits_and_the_others_go_on(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outbox = await put_insights(crew, ["i1", "odd", "i2"])
    async with Knowledge.open(graph_url) as knowledge:
        with monkeypatch.context() as patched:
            odd_ones(patched, GraphSlow(reason="Query timed out"))
            done = await relay_of(crew, knowledge).drain()
            assert (done.records, done.refused) == (2, 0)
            assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (1, 0)
            # With nothing but slow ones it is the server.
            await put_insights(crew, ["odd2", "odd3"])
            with pytest.raises(GraphAway, match="too long"):
                await relay_of(crew, knowledge, "r2").drain()
        await relay_of(crew, knowledge, "r3").drain()
        assert {one.id for one in await knowledge.insights()} == {"i1", "i2", "odd", "odd2", "odd3"}
    assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (0, 0)


async def test_when_nothing_can_be_written_nothing_is_put_aside(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"odd{number}" for number in range(IN_A_ROW)]
    outbox = await put_insights(crew, names)
    async with Knowledge.open(graph_url) as knowledge:
        with monkeypatch.context() as patched:
            odd_ones(patched, KeyError("ours"))
            relay = relay_of(crew, knowledge)
            with pytest.raises(RelayStuck, match=r"16 entries in a row.*KeyError: 'ours'"):
                await relay.drain()
            assert len(relay.held) == IN_A_ROW
            assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (16, 0)
            # Also those that come one after the other, and whichever relay gets them.
            one, *others = relay.held
            relay = relay_of(crew, knowledge)
            await relay.write([one])
            assert relay.in_a_row == 1
            next_one = Relay(
                crew.store, knowledge.graph, Privacy(), name="r1", clock=lambda: START,
                meanings=meanings(), in_a_row=IN_A_ROW - 1,
            )  # fmt: skip
            with pytest.raises(RelayStuck):
                await next_one.write([others[0]])
        await relay_of(crew, knowledge).drain()
        assert {one.id for one in await knowledge.insights()} == set(names[1:])
    assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (0, 1)


async def test_a_relay_that_is_stuck_goes_on_with_the_first_that_can_be_written(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "_FIRST_WAIT_S", 0.02)
    odd_ones(monkeypatch, KeyError("theirs"))
    outbox = await put_insights(crew, [f"odd{number}" for number in range(IN_A_ROW)])
    setting = GraphSetting("on", graph_url)
    relaying = asyncio.create_task(relay_for_ever(setting, crew.store, Privacy(), name="r1"))
    async with asyncio.timeout(30):
        while "in a row none could be written" not in caplog.text:
            await asyncio.sleep(0.02)
        assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (16, 0)
        await put_insights(crew, ["i1"])
        while (await outbox.lag()).waiting:
            await asyncio.sleep(0.02)
    relaying.cancel()
    await asyncio.wait([relaying])
    assert (await outbox.lag()).refused == IN_A_ROW
    async with Knowledge.open(graph_url) as knowledge:
        assert [one.id for one in await knowledge.insights()] == ["i1"]


async def test_a_run_that_is_put_aside_is_marked_and_no_sweep_tells_it_again(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await play_runs(crew, 3)
    await crew.store.tell_run(ids[1])
    episodes = GraphWriter.episodes

    async def strict(self: GraphWriter, given: Any) -> None:
        if any(one.properties["workflow_id"] == ids[1] for one in given):
            raise KeyError("odd")
        await episodes(self, given)

    monkeypatch.setattr(GraphWriter, "episodes", strict)
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
    assert (done.runs, done.refused) == (2, 1)
    assert [run.outbox for run in await crew.store.run_many(ids)] == ["told", "refused", "told"]
    lag = await Outbox(crew.store.backend).lag()
    assert (lag.waiting, lag.refused) == (0, 1)
    assert await sweep_outbox(crew.store) == 0


async def test_a_hint_of_no_run_is_put_aside(crew: Crew, graph_url: str) -> None:
    await play_runs(crew, 1)
    await crew.store.tell_run("no/run at all\n")
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
    assert (done.runs, (await Outbox(crew.store.backend).lag()).waiting) == (1, 0)


async def test_a_relay_survives_whatever_happens_and_leaves_at_the_end(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play_runs(crew, 1)
    write_all = Relay._write_all
    raised = []

    async def not_at_once(self: Relay, *given: Any) -> None:
        if not raised:
            raised.append(self)
            raise RuntimeError("nobody thought of it")
        await write_all(self, *given)

    monkeypatch.setattr(Relay, "_write_all", not_at_once)
    setting = GraphSetting("on", graph_url)
    relaying = asyncio.create_task(relay_for_ever(setting, crew.store, Privacy(), name="r1"))
    async with asyncio.timeout(30):
        while (await Outbox(crew.store.backend).lag()).waiting:
            await asyncio.sleep(0.05)
    assert await consumers(crew) == {"r1"}
    relaying.cancel()
    await asyncio.wait([relaying])
    assert raised and await consumers(crew) == set()


async def consumers(crew: Crew) -> set[str]:
    found = await crew.store.backend.command("XINFO", "CONSUMERS", keys.OUTBOX_RUNS, GROUP)
    return {dict(zip(one[::2], one[1::2], strict=True))["name"] for one in found}


async def test_readers_that_were_killed_are_dismissed_but_not_those_that_hold_something(
    crew: Crew,
) -> None:
    await play_runs(crew, 1)
    holding, idle = (Outbox(crew.store.backend, consumer=name) for name in ("holding", "idle"))
    await holding.open()
    assert len(await holding.read(9)) == 1
    await idle.read(9)
    assert await idle.dismiss(60_000) == 0
    await idle.dismiss(0)
    assert await consumers(crew) == {"holding"}


async def test_a_run_is_refused_with_all_its_hints(crew: Crew, graph_url: str) -> None:
    (run_id,) = await play_runs(crew, 1)
    await crew.store.tell_run(run_id)
    await crew.store.backend.command("JSON.DEL", crew.store.keys(run_id).state("A"), "$.times")
    async with Knowledge.open(graph_url) as knowledge:
        relay = relay_of(crew, knowledge)
        await relay.outbox.open()
        await relay.write(await relay.outbox.read(9))
    assert (relay.held, relay.done.refused) == ([], 1)
    assert (await relay.outbox.lag()).waiting == 0


async def test_however_many_runs_are_told_again_no_hint_of_them_is_dropped(
    crew: Crew, graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await play_runs(crew, 5)
    monkeypatch.setattr(run_lists, "_SLICE", 2)
    tell = script.load("tell")
    small = script.Script("tell", tell.source.replace("= 100000", "= 2"))
    load = script.load
    monkeypatch.setattr(script, "load", lambda name: small if name == "tell" else load(name))
    async with Knowledge.open(graph_url) as knowledge:
        await relay_of(crew, knowledge).drain()
        await crew.store.backend.command("DEL", keys.OUTBOX_COUNTS)
        await knowledge.graph.write([query("MATCH (n) DETACH DELETE n")])
        done = await drain(knowledge, crew.store, {}, everything=True)
        assert done.runs == 5
        assert {run.workflow_id async for run in knowledge.runs()} == set(ids)
    assert (await Outbox(crew.store.backend).lag()).dropped == 0


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
        assert await knowledge.graph.read(CONCERNING) == [["i2"]]
        # What became of the advice is told later.
        await outbox.put(INSIGHT, "i1", {**first.to_json(), "taken": 7, "helped": 5})
        await relay_of(crew, knowledge).drain()
        assert [one.id for one in await knowledge.insights()] == ["i2"]
        assert [one.taken for one in await knowledge.insights(valid=False)] == [0, 7]
        assert await knowledge.graph.read(CONCERNING) == [["i2"]]


async def test_an_insight_that_comes_after_the_one_that_supersedes_it_is_over(
    crew: Crew, graph_url: str
) -> None:
    outbox = Outbox(crew.store.backend)
    first = InsightFact(
        id="i1", category="version", statement="1.1.0 is better", confidence=0.9,
        created_at=START, task_types=("pay",),
    )  # fmt: skip
    later = replace(first, id="i2", created_at=START + 5, supersedes=("i1",))
    async with Knowledge.open(graph_url) as knowledge:
        for fact in (later, first):
            await outbox.put(INSIGHT, fact.id, fact.to_json())
            await relay_of(crew, knowledge).drain()
        assert [one.id for one in await knowledge.insights()] == ["i2"]
        assert await knowledge.graph.read(CONCERNING) == [["i2"]]


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
