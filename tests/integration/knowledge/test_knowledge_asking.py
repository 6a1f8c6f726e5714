"""What the graph answers, against a past whose numbers are counted here by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from integration.knowledge.shop import (
    CHARGE,
    CHARGES,
    HOUR_MS,
    INSIGHT,
    MAILS,
    NEW,
    OLD,
    OUTCOMES,
    SWITCH,
    charge,
    end,
    fill,
)
from integration.knowledge.world import START, write
from redis import Redis

from dcf.evidence import Choice, choose, wilson
from dcf.knowledge import (
    GRAPH,
    Approval,
    GraphConnection,
    Knowledge,
    Outcome,
    ToolUse,
    load_embedder,
)
from dcf.knowledge.asking import (
    Asker,
    Narrowed,
    QuestionTooWide,
    UnknownThing,
    account_of,
    causes,
    chosen,
    chosen_for,
    compared,
    crossing,
    exported,
    groups_written,
    names_in,
    overview,
    ranking,
    runs_counted,
    runs_like,
    runs_listed,
    spreads,
    trend,
    what_changed,
    why,
)
from dcf.knowledge.asking.looking import look
from dcf.knowledge.cypher import query

NOW = START + 200 * HOUR_MS


@pytest.fixture(scope="module")
def shop(graph_server: str) -> Iterator[str]:
    """A graph that is only read by this module."""
    with Redis.from_url(graph_server) as client:
        client.flushall()
    fill(graph_server)
    yield graph_server


@pytest.fixture
async def graph(shop: str) -> AsyncIterator[GraphConnection]:
    async with GraphConnection(shop) as connection:
        yield connection


@pytest.fixture
def asker(graph: GraphConnection) -> Asker:
    async def embedder() -> Any:
        return load_embedder()

    return Asker(Knowledge(graph), embedder)


async def test_versions_are_ranked_with_counts_intervals_confidence_and_runs(
    graph: GraphConnection,
) -> None:
    old, new = await ranking(graph, task_type=CHARGE, now=NOW)
    # 60 runs of which 6 failed, and four second visits that went well; 40 of which 10 went well.
    assert (old.version, old.counts.successes, old.counts.failures) == (OLD, 58, 6)
    assert (new.version, new.counts.successes, new.counts.failures) == (NEW, 10, 30)
    assert old.to_json()["low"] == pytest.approx(wilson(58, 64)[0], abs=1e-4)
    assert old.best > 0.999 and old.best + new.best == pytest.approx(1)
    ran_new = {one.workflow_id for one in CHARGES if NEW in one.skills}
    assert new.runs and set(new.runs) <= ran_new
    assert list(new.runs) == sorted(new.runs, reverse=True)  # the newest first


async def planned(graph: GraphConnection, versions: Sequence[str]) -> Choice:
    """What the Planner chooses without exploring; versions are given to it the newest first."""
    records = await Knowledge(graph).records(CHARGE, now=NOW)
    return choose(versions, records, random=Random(0), explore=False)


async def test_the_ranking_is_what_the_planner_chooses_by(graph: GraphConnection) -> None:
    choice = await planned(graph, [NEW, OLD])
    ranked = await ranking(graph, task_type=CHARGE, now=NOW)
    assert [(one.version, one.expected, one.best) for one in ranked] == [
        (row.version, row.expected, row.best) for row in choice.standings
    ]


async def test_a_version_that_got_worse_is_ranked_by_what_it_does_now(shop: str) -> None:
    def told(number: int, version: str, ok: bool) -> Outcome:
        run = f"{version}-{number}"
        return charge(
            number, run=f"{run}/1", workflow_id=run, skills=(version,),
            status="done" if ok else "failed", error=None if ok else "Boom", cause=None,
        )  # fmt: skip

    async with GraphConnection(shop, graph="turned") as graph:
        # The old one went well 150 times and then failed 50 times; the new one always did so-so.
        await write(graph, *(told(number, OLD, number < 150) for number in range(200)))
        await write(graph, *(told(number, NEW, number % 5 < 3) for number in range(200)))
        first, second = await ranking(graph, task_type=CHARGE, now=NOW)
        choice = await planned(graph, [NEW, OLD])
    assert (first.version, second.version) == (NEW, OLD) == (choice.recommended, OLD)
    assert (second.counts.successes, second.counts.failures) == (150, 50)
    assert second.expected < 0.2 < 0.5 < first.expected
    # From sums of days, a change shows from one day to the next.
    assert second.changed_at is not None
    days = second.changed_at // (24 * HOUR_MS) - (START + 150 * HOUR_MS) // (24 * HOUR_MS)
    assert days in (0, 1)
    assert first.changed_at is None and first.best == choice.confidence


async def test_a_ranking_since_a_day_counts_only_from_that_day_on(graph: GraphConnection) -> None:
    since = START + 90 * HOUR_MS
    midnight = since - since % (24 * HOUR_MS)
    [ranked] = await ranking(graph, task_type=CHARGE, since=since)
    counted = [one for one in CHARGES if one.ended_at >= midnight]
    assert ranked.counts.n == len(counted)
    assert ranked.counts.successes == sum(one.ok for one in counted)


async def test_all_tasks_are_ranked_where_none_is_named(graph: GraphConnection) -> None:
    found = await ranking(graph)
    assert [(one.task_type, one.version) for one in found] == [
        ("mail.send", "skill.mail.send@1.0.0"), (CHARGE, OLD), (CHARGE, NEW),
    ]  # fmt: skip
    assert [one.version for one in await ranking(graph, skill="skill.mail.send")] == [
        "skill.mail.send@1.0.0"
    ]


async def test_the_version_that_came_with_the_failures_is_the_first_suspect(
    graph: GraphConnection,
) -> None:
    changes = await what_changed(graph, Narrowed(task_type=CHARGE))
    fall = changes.fall
    assert fall is not None
    # The first failure with the new version is run 61; the last one before is 59.
    assert START + 59 * HOUR_MS <= fall.at <= START + 62 * HOUR_MS
    assert (fall.before.rate or 0) > 0.85 and (fall.after.rate or 1) < 0.5
    assert fall.errors[0][0] == "Payments.Timeout"
    suspects = {(one.kind, one.value) for one in fall.suspects}
    assert ("version", NEW) in suspects and ("version", OLD) not in suspects
    first = fall.suspects[0]
    assert first.kind in ("version", "definition") and first.p_value < 0.001
    assert first.first_at == START + SWITCH * HOUR_MS
    assert set(first.runs) <= {one.workflow_id for one in CHARGES if not one.ok}


async def test_no_more_than_the_newest_outcomes_are_looked_at(
    graph: GraphConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.knowledge.asking.seen.MOST", 30)
    changes = await what_changed(graph, Narrowed())
    assert changes.looked_at == 30
    assert changes.since == sorted(one.ended_at for one in OUTCOMES)[-30]


async def test_where_nothing_fell_nothing_is_suspected(graph: GraphConnection) -> None:
    changes = await what_changed(graph, Narrowed(task_type="mail.send"))
    assert changes.looked_at == 40 and changes.fall is None
    assert (await what_changed(graph, Narrowed(task_type="nothing"))).looked_at == 0


async def test_runs_alike_come_with_reasons(graph: GraphConnection) -> None:
    found = await runs_like(graph, "order-61", load_embedder(), limit=40)
    assert found[0].workflow == "orders" and found[0].status == "failed"
    assert "the same workflow, orders" in found[0].reasons
    assert any("Payments.Timeout" in reason for reason in found[0].reasons)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 < one.score <= 1 for one in found)
    assert all(not one.workflow_id.startswith("mail") for one in found)
    with pytest.raises(UnknownThing, match="knows no run 'nobody'"):
        await runs_like(graph, "nobody", load_embedder())


async def test_why_names_the_cluster_others_and_what_helped(graph: GraphConnection) -> None:
    found = await why(graph, "order-70")
    [failure] = found.failures
    # Causes differ in a number and a quoted name only: all failures of this task are one cluster.
    failed = [one for one in CHARGES if not one.ok]
    assert failure.pattern == "no answer from gateway '…' after # ms"
    assert (failure.cluster, failure.failed, failure.looked_at) == (len(failed), len(failed), 104)
    assert "order-70" not in failure.runs and len(failure.runs) == 5
    assert failure.elsewhere == ()
    [version] = [one for one in failure.helped if one.how == "version"]
    assert version.what == OLD and (version.counts.successes, version.counts.failures) == (58, 6)
    assert version.against is not None and version.against.verdict == "higher"


async def test_a_state_that_went_well_later_is_not_blamed(graph: GraphConnection) -> None:
    assert (await why(graph, "order-61")).failures == ()
    with pytest.raises(UnknownThing) as caught:
        await why(graph, "order-70", "Ship")
    assert caught.value.hint == "it has Charge"


async def test_a_run_is_told_with_all_its_visits(graph: GraphConnection) -> None:
    account = await account_of(graph, "order-61")
    assert [(one.visit, one.status, one.skills) for one in account.outcomes] == [
        (1, "failed", (NEW,)), (2, "done", (OLD,)),
    ]  # fmt: skip
    assert account.end is not None and account.end.workflow_name == "orders"


@pytest.mark.parametrize("by", [("skill", "error"), ("agent", "task_type"), ("day",)])
async def test_outcomes_are_counted_across_dimensions(
    graph: GraphConnection, by: Sequence[Any]
) -> None:
    def values(one: Any) -> tuple[Any, ...]:
        day = (one.ended_at - START + START % (24 * HOUR_MS)) // (24 * HOUR_MS)
        has = {"skill": one.skills[0], "day": day}
        return tuple(has.get(name, getattr(one, name, None)) for name in by)

    expected: dict[Any, tuple[int, int]] = {}
    for one in OUTCOMES:
        n, ok = expected.get(values(one), (0, 0))
        expected[values(one)] = (n + 1, ok + one.ok)
    found = await crossing(graph, by)
    assert sorted((one.counts.n, one.counts.successes) for one in found) == sorted(
        expected.values()
    )
    if "day" not in by:
        assert {tuple(one.values.values()) for one in found} == set(expected)


async def test_counting_can_be_narrowed_to_one_skill_and_error(graph: GraphConnection) -> None:
    narrowed = Narrowed(skill="skill.orders.charge_payment", error="Payments.Timeout")
    [old, new] = sorted(await crossing(graph, ["skill"], narrowed), key=lambda c: c.counts.n)
    assert (old.values["skill"], old.counts.n) == (OLD, 6)
    assert (new.values["skill"], new.counts.n) == (NEW, 30)
    assert set(new.failed_runs) <= {f"order-{number}" for number in range(SWITCH, 100)}


async def test_the_overview_counts_what_is_there_and_groups_narrow_it(
    graph: GraphConnection,
) -> None:
    whole = await overview(graph, chosen(()))
    assert whole.episodes == {"StateOutcome": 144, "WorkflowRun": 140}
    assert whole.entities["SkillVersion"] == 3 and whole.entities["Insight"] == 1
    assert whole.outcomes.successes == sum(one.ok for one in OUTCOMES)
    runs = await overview(graph, chosen(["dcf_executions"]))
    assert runs.episodes == {"WorkflowRun": 140} and runs.outcomes.n == 0
    assert set(runs.facts) == {"ENDED_WITH"}
    assert (await overview(graph, chosen(["my-notes"]))).episodes == {}
    assert (await overview(graph, chosen([GRAPH]))).episodes == whole.episodes


OTHERS = (
    "CREATE (:Entity {name: 'no group', of: 'others'})",
    "CREATE (:Entity:TaskType {name: 7, group_id: 7, of: 'others'})",
    "CREATE (:Entity:Insight {insight_id: 'x', revision: 1, confidence: 'high', "
    "valid_at: 'now', of: 'others'})-[:RELATES_TO {fact: 'none'}]->(:Other {of: 'others'})",
    "CREATE (:Episodic:StateOutcome {uuid: 'z', ended_at: 'never', of: 'others'})",
    "CREATE (:Episodic:StateOutcome {uuid: 'y', ended_at: 5, status: 'failed', of: 'others'})",
    "CREATE (:Episodic:WorkflowRun {uuid: 1, ended_at: 5, workflow_id: 'order-61', of: 'others'})",
)


async def test_what_others_write_hides_nothing_that_was_measured(
    graph: GraphConnection, asker: Asker
) -> None:
    knowledge = Knowledge(graph)

    async def told() -> list[Any]:
        asked = await asker.ask(f"what changed before {CHARGE} began to fail?")
        return [
            [one async for one in knowledge.outcomes()],
            [one async for one in knowledge.runs()],
            await knowledge.insights(),
            (await overview(graph, chosen([GRAPH]))).to_json(),
            (await what_changed(graph, Narrowed(task_type=CHARGE))).to_json(),
            (await account_of(graph, "order-61")).to_json(),
            (await names_in(graph)).known,
            (asked.understood, asked.result),
        ]

    before = await told()
    await graph.write([query(text) for text in OTHERS])
    try:
        assert await told() == before
        whole = await overview(graph, chosen(()))
        assert whole.groups.keys() == {GRAPH, "-", "7"} and whole.facts["-"] == 1
        assert (await groups_written(graph)).keys() == {GRAPH, "-", "7"}
        assert (await what_changed(graph, Narrowed())).looked_at == len(OUTCOMES)
        assert [one.counts.n for one in await crossing(graph, ["workflow"])] == [104, 40, 1]
        assert len([one async for one in exported(graph, chosen(()))]) > len(OUTCOMES)
    finally:
        await graph.write([query("MATCH (n {of: 'others'}) DETACH DELETE n")])


async def test_the_export_has_each_node_and_edge_once_without_vectors(
    graph: GraphConnection,
) -> None:
    lines = [one async for one in exported(graph, chosen(()))]
    nodes = [one for one in lines if "node" in one]
    edges = [one for one in lines if "edge" in one]
    assert len({one["node"] for one in nodes}) == len(nodes) == await count(graph, "MATCH (n)")
    assert len(edges) == await count(graph, "MATCH ()-[n]->()")
    assert lines.index(edges[0]) == len(nodes)
    assert "embedding" not in json.dumps(lines)
    only = [one async for one in exported(graph, chosen(["dcf_insights"]))]
    assert [one["properties"]["insight_id"] for one in only if "node" in one] == [INSIGHT.id]


async def count(graph: GraphConnection, pattern: str) -> int:
    return int((await graph.read(f"{pattern} RETURN count(n)"))[0][0])


@pytest.mark.parametrize(
    ("words", "question", "arguments"),
    [
        ("Which skill version succeeded most for orders.charge_payment?", "skills",
         {"task_type": CHARGE}),
        ("best version for charge payment", "skills", {"task_type": CHARGE}),
        ("What changed before orders.charge_payment began to fail?", "changes",
         {"task_type": CHARGE}),
        ("why did order-70 fail?", "why", {"run": "order-70"}),
        ("which runs are like order-70", "similar", {"run": "order-70"}),
        ("what happened in mail-3?", "run", {"run": "mail-3"}),
        ("how many outcomes failed by agent and error for mail.send", "outcomes",
         {"task_type": "mail.send"}),
        ("what insights are there?", "insights", {}),
        ("give me an overview of the graph", "stats", {}),
    ],
)  # fmt: skip
async def test_words_become_declared_questions(
    asker: Asker, words: str, question: str, arguments: dict[str, str]
) -> None:
    asked = await asker.ask(words)
    assert asked.understood == question, asked.matched.scores
    first = {name: found[0] for name, found in asked.matched.arguments.items()}
    assert first.items() >= arguments.items()
    assert asked.result is not None


async def test_runs_are_counted_by_their_last_end(graph: GraphConnection) -> None:
    since, until = START + 10 * HOUR_MS, START + 30 * HOUR_MS
    found = await runs_counted(graph, ["workflow"], Narrowed(since=since, until=until))
    # Hours 10 to 29: of orders 19 and 29 fail; of letters 12, 18 and 24.
    assert {one.values["workflow"]: (one.counts.n, one.counts.failures) for one in found} == {
        "orders": (20, 2), "letters": (20, 3),
    }  # fmt: skip
    first, second = await runs_counted(graph, ["error"], Narrowed(), order="failures", limit=2)
    assert (first.values["error"], first.counts.failures) == ("Payments.Timeout", 36)
    assert (second.values["error"], second.counts.failures) == ("Mail.Bounced", 7)
    days = await runs_counted(graph, ["day"], Narrowed())
    assert sum(one.counts.n for one in days) == 140


async def test_words_for_a_time_narrow_the_answer(graph: GraphConnection) -> None:
    async def embedder() -> Any:
        return load_embedder()

    def now() -> datetime:
        return datetime.fromtimestamp((START + 30 * HOUR_MS) / 1000, UTC)

    asker = Asker(Knowledge(graph), embedder, now=now)
    asked = await asker.ask("how many runs failed in the last 20 hours?")
    assert asked.understood == "runs"
    # From hour 10 on, whatever came later.
    counts = {one.values["workflow"]: one.counts.failures for one in asked.result}
    assert counts == {"orders": 5 + 30, "letters": 5}
    worst = await asker.ask("which skill fails most?")
    assert [one.values["skill"] for one in worst.result] == [
        NEW, "skill.mail.send@1.0.0", OLD,
    ]  # fmt: skip


async def test_runs_are_listed_from_one_end_of_the_time(graph: GraphConnection) -> None:
    ran = Narrowed(workflow="orders")
    newest = await runs_listed(graph, ran, status="failed", limit=3)
    assert [one.run for one in newest] == ["order-99", "order-98", "order-97"]
    (first,) = await runs_listed(
        graph, Narrowed(task_type=CHARGE), status="failed", oldest=True, limit=1
    )
    assert (first.run, first.state, first.error) == ("order-9", "Charge", "Payments.Timeout")
    (won,) = await runs_listed(graph, ran, status="succeeded", limit=1)
    assert won.run == "order-96"
    assert len(await runs_listed(graph, Narrowed(error="Mail.Bounced"), limit=100)) == 7


async def test_failures_are_counted_by_their_cause(graph: GraphConnection) -> None:
    (charging,) = await causes(graph, Narrowed(task_type=CHARGE))
    assert (charging.error, charging.n, charging.of) == ("Payments.Timeout", 36, 36)
    assert charging.runs[0] == "order-99"
    both = await causes(graph)
    assert [(one.error, one.n) for one in both] == [("Payments.Timeout", 36), ("Mail.Bounced", 7)]


async def test_a_rate_that_falls_is_told_from_one_that_does_not(graph: GraphConnection) -> None:
    # Of the first 52 outcomes of charging those of runs 9, 19, 29, 39 and 49 failed.
    charging = await trend(graph, "success", Narrowed(task_type=CHARGE))
    assert (charging.looked_at, charging.direction) == (104, "falls")
    assert charging.before == pytest.approx(47 / 52)
    assert sum(day.counts.n for day in charging.days) == 104
    mailing = await trend(graph, "success", Narrowed(task_type="mail.send"))
    assert mailing.direction == "no_change_found"
    assert (await trend(graph, "cost", Narrowed(task_type="nothing"))).direction == "too_few"


async def test_two_versions_and_two_runs_are_compared(graph: GraphConnection) -> None:
    found = await compared(graph, "skill", (NEW, OLD))
    assert [one.counts.successes for one in found.sides] == [10, 58]
    assert found.comparison is not None and found.comparison.verdict == "lower"
    runs = await compared(graph, "run", ("order-0", "order-60"))
    assert [(one.state, one.what) for one in runs.differences] == [
        ("", "definition"), ("Charge", "skills"),
    ]  # fmt: skip
    with pytest.raises(UnknownThing):
        await compared(graph, "run", ("order-0", "order-none"))


async def test_durations_are_those_of_tasks_or_of_whole_runs(graph: GraphConnection) -> None:
    tasks = await spreads(graph, "duration_ms", ["task_type"])
    assert {one.values["task_type"]: (one.n, one.median) for one in tasks} == {
        CHARGE: (104, 100), "mail.send": (40, 100),
    }  # fmt: skip
    (runs,) = await spreads(graph, "duration_ms", [], Narrowed(workflow="orders"))
    assert (runs.n, runs.p90) == (100, 101)
    (tries,) = await spreads(graph, "tries", [], Narrowed(task_type=CHARGE))
    assert (tries.n, tries.mean) == (104, 1)


async def test_what_fails_most_is_told_by_the_rate_as_far_as_it_is_sure(shop: str) -> None:
    # Once of once, 12 of 20, 15 of 60: the lower bounds by Wilson are 0.21, 0.39 and 0.16.
    failed = {"once": (1, 1), "often": (12, 20), "seldom": (15, 60)}
    told = [
        charge(
            number, run=f"{agent}-{number}/1", workflow_id=f"{agent}-{number}", agent=agent,
            status="failed" if number < lost else "done",
            error="Boom" if number < lost else None, cause=None,
        )
        for agent, (lost, n) in failed.items()
        for number in range(n)
    ]  # fmt: skip
    async with GraphConnection(shop, graph="agents") as graph:
        await write(graph, *told)
        by_rate = await crossing(graph, ["agent"], order="unreliable")
        by_count = await crossing(graph, ["agent"], order="failures")
    assert [one.values["agent"] for one in by_rate] == ["often", "once", "seldom"]
    assert [one.values["agent"] for one in by_count] == ["seldom", "often", "once"]


async def test_why_a_version_was_chosen_is_what_its_plan_recorded(shop: str) -> None:
    why_new = "2.0.0 is tried to learn about it; next: skill.orders.charge_payment@1.0.0"
    told = [charge(0), charge(70, chosen=why_new), charge(71, chosen=None)]
    async with GraphConnection(shop, graph="plans") as graph:
        await write(graph, *told)
        new, old = await chosen_for(graph, task_type=CHARGE)
        (run,) = await chosen_for(graph, run="order-70")
        with pytest.raises(UnknownThing):
            await chosen_for(graph, run="order-1")
    assert (new.skills, new.why, new.n, new.run) == ((NEW,), why_new, 2, "order-71")
    assert (old.skills, old.why) == ((OLD,), "")
    assert {one.version for one in old.measured} == {OLD, NEW}
    assert (run.skills, run.why) == ((NEW,), why_new)


async def test_names_that_come_near_are_offered(asker: Asker) -> None:
    asked = await asker.ask("which version works best for charging a payment?")
    assert asked.understood is None and asked.near[0] == CHARGE


@pytest.mark.parametrize(
    "words", ["", "hello", "what is the meaning of life", "why did nobody fail", "tell me a joke"]
)
async def test_what_is_not_understood_is_not_guessed(asker: Asker, words: str) -> None:
    asked = await asker.ask(words)
    assert asked.understood is None and asked.result is None


class Scripted:
    """A model that says what it is told to."""

    def __init__(self, said: Any) -> None:
        self.said = said

    async def choose(self, question: str, offer: Sequence[Any]) -> Any:
        return self.said


async def test_a_model_may_choose_the_question(graph: GraphConnection) -> None:
    said = {"question": "outcomes", "arguments": {"task_type": "mail.send"}, "by": ["error"]}
    asker = Asker(Knowledge(graph), load_nothing, chooser=Scripted(said))
    asked = await asker.ask("mail.send: what goes wrong there?")
    assert asked.understood == "outcomes" and asked.matched.by_model
    assert {one.values["error"]: one.counts.n for one in asked.result} == {
        None: 33, "Mail.Bounced": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        None,
        {"question": "drop_everything"},
        {"question": "why", "arguments": {"run": "order-1"}},  # not in the words
        {"question": "why"},
        {"question": "outcomes", "by": ["e.cause"]},
        {"question": "stats", "arguments": {"cypher": "MATCH (n) DELETE n"}},
    ],
)
async def test_what_a_model_makes_up_is_not_asked(graph: GraphConnection, said: Any) -> None:
    asker = Asker(Knowledge(graph), load_nothing, chooser=Scripted(said))
    asked = await asker.ask("hello there")
    assert asked.understood is None and asked.problems


async def load_nothing() -> Any:
    raise AssertionError("nothing compares texts here")


async def test_a_query_that_takes_too_long_is_stopped_and_explained(
    graph: GraphConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.knowledge.asking.looking.LIMIT_MS", 1)
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b RETURN sum(a * b)"
    with pytest.raises(QuestionTooWide, match="stopped looking after 1 ms: counting") as caught:
        await look(graph, "counting", slow)
    assert "--since" in caught.value.hint


async def test_an_empty_graph_answers_with_nothing(shop: str) -> None:
    async with GraphConnection(shop, graph="nothing_yet") as empty:
        assert await ranking(empty) == []
        assert (await what_changed(empty, Narrowed())).fall is None
        assert await crossing(empty, ["skill"]) == []
        assert (await overview(empty, chosen(()))).outcomes.n == 0
        assert [one async for one in exported(empty, chosen(()))] == []
    assert len(MAILS) == 40


async def test_tools_and_approvals_are_asked_for_and_times_compared(shop: str) -> None:
    told = [
        charge(0, tools=(ToolUse("bank:pay", 3, 2), ToolUse("post:send", 1, 0))),
        charge(1, tools=(ToolUse("bank:pay", 1, 0),)),
        charge(
            30,
            approvals=(
                Approval("ann", "reject", START + 29 * HOUR_MS, 5_000),
                Approval("bob", "approve", START + 30 * HOUR_MS, 60_000),
            ),
        ),
        charge(31, approvals=(Approval("ann", "approve", START + 31 * HOUR_MS, 9_000),)),
    ]

    async def embedder() -> Any:
        return load_embedder()

    def now() -> datetime:
        return datetime.fromtimestamp((START + 32 * HOUR_MS) / 1000, UTC)

    async with GraphConnection(shop, graph="deeds") as graph:
        await write(graph, *told, *map(end, told))
        asker = Asker(Knowledge(graph), embedder, now=now)

        async def answer(words: str) -> Any:
            asked = await asker.ask(words)
            assert asked.understood is not None, asked.matched.why_not
            return asked.result

        tools = await answer("which tool fails most?")
        failing = await answer("which runs did bank:pay fail in?")
        using = await answer("which runs used pay?")
        ann = await answer("what did ann approve?")
        longest, *_ = await answer("which approvals took longest?")
        (rejected,) = await answer("who rejected order-30?")
        late = await answer("what was approved in the last 2h?")
        most = await answer("who approved most?")
        rejecting = await answer("who rejected most?")
        (often,) = await answer("how often did ann approve in the last 2h?")
        (workflow,) = await answer("approvals per workflow")
        days = await answer("how many approvals were there per day?")
        each = await answer("which tools does each agent use?")
        (paying,) = await answer("which agents used bank:pay?")
        periods = await answer("did more runs fail in the last 24 hours than yesterday?")

    assert [(one.tool, one.counts.n, one.counts.failures, one.tasks) for one in tools] == [
        ("bank:pay", 4, 2, 2), ("post:send", 1, 0, 1),
    ]  # fmt: skip
    assert [one.run for one in failing] == ["order-0"]
    assert [one.run for one in using] == ["order-1", "order-0"]
    assert [(one.run, one.decision) for one in ann] == [
        ("order-31", "approve"), ("order-30", "reject"),
    ]  # fmt: skip
    assert (longest.by, longest.run, longest.waited_ms) == ("bob", "order-30", 60_000)
    assert (rejected.by, rejected.state) == ("ann", "Charge")
    assert [one.by for one in late] == ["ann", "bob"]
    # Both approved once; the last one to do so comes first.
    assert [(one.values["approver"], one.approved, one.rejected) for one in most] == [
        ("ann", 1, 1), ("bob", 1, 0),
    ]  # fmt: skip
    assert [(one.values["approver"], one.runs) for one in rejecting] == [
        ("ann", ("order-30",)),
    ]  # fmt: skip
    assert (often.approved, often.rejected, often.mean_ms) == (1, 0, 9_000)
    assert (workflow.values, workflow.approved, workflow.rejected) == (
        {"workflow": "orders"}, 2, 1,
    )  # fmt: skip
    # 29 hours after START is 19:13 of the next day, UTC.
    assert [(one.values["day"], one.approved) for one in days] == [("2026-09-22", 2)]
    assert [(one.tool, one.agent, one.counts.n) for one in each] == [
        ("bank:pay", "cashier", 4), ("post:send", "cashier", 1),
    ]  # fmt: skip
    assert (paying.agent, paying.tool, paying.counts.failures) == ("cashier", None, 2)
    # START is at 14:13 UTC: runs 0 and 1 ended yesterday, 30 and 31 in the last 24 hours.
    assert [one.counts.n for one in periods.sides] == [2, 2]
