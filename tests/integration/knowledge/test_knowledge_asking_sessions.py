"""What the graph answers about sessions, against a past whose numbers are counted here by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from typing import Any

import pytest
from integration.knowledge.office import (
    DELEGATIONS,
    DRAFT,
    MINUTE_MS,
    PATTERNS,
    SEND,
    delegation,
    pattern,
    run_of,
    session,
    write_records,
)
from integration.knowledge.world import START, outcome, run_fact, write
from redis import Redis

from dcf.evidence import record_of, wilson
from dcf.knowledge import (
    GraphConnection,
    Knowledge,
    Outcome,
    SkillMetricFact,
    load_embedder,
)
from dcf.knowledge.asking import (
    Asker,
    Handed,
    Narrowed,
    UnknownThing,
    chosen,
    crossing,
    delegations_counted,
    names_in,
    overview,
    patterns,
    runs_counted,
    runs_like,
    session_account,
    sessions_past,
    what_changed,
)
from dcf.knowledge.cypher import query
from dcf.knowledge.outcome import RunFact

NOW = START + 100 * MINUTE_MS
# In another session: sending, half done once, cancelled once, and once begun by nobody.
ELSEWHERE = [
    delegation(number, task_id=f"o-{number}", session_id="s-2", status=status, **more)
    for number, status, more in (
        (20, "succeeded", {}),
        (22, "partial", {}),
        (24, "cancelled", {}),
        (26, "failed", {"started_at": None, "companion_id": None, "specialization": None,
                        "error_code": "deadline_passed"}),
        (28, "succeeded", {"skills": (SEND, DRAFT), "cost_usd": None}),
    )
]  # fmt: skip
TOLD = [*DELEGATIONS, *ELSEWHERE]
RAN = [run_of(told) for told in TOLD if told.started_at is not None and told.status != "cancelled"]
PLAIN = outcome(1, task_type="mail.send", skills=(SEND,), workflow_id="plain", run="plain/1",
                workflow_name="letters", ended_at=START + 5 * MINUTE_MS, duration_ms=40,
                status="done", error=None, cause=None, cost_usd=None)  # fmt: skip


def ended(one: Outcome) -> RunFact:
    return run_fact(
        run=one.run, workflow_id=one.workflow_id, workflow_name=one.workflow_name,
        status="succeeded" if one.ok else "failed", started_at=one.started_at,
        ended_at=one.ended_at + 1, error=one.error, cause=one.cause,
        digest=one.workflow_id * 8, states={"total": 1},
    )  # fmt: skip


async def fill(url: str) -> None:
    async with GraphConnection(url) as graph:
        await write(graph, *RAN, PLAIN, *map(ended, [*RAN, PLAIN]))
        newer = pattern(
            SkillMetricFact, id="s-2/x", session_id="s-2", skill="skill.mail.send",
            task_type="mail.send", at=NOW,
        )  # fmt: skip
        over = session(state="completed", ended_at=START + 50 * MINUTE_MS)
        await write_records(graph, over, *TOLD, *PATTERNS, newer)


@pytest.fixture(scope="module")
def office(graph_server: str) -> Iterator[str]:
    """A graph that is only read by this module."""
    with Redis.from_url(graph_server) as client:
        client.flushall()
    asyncio.run(fill(graph_server))
    yield graph_server


@pytest.fixture
async def graph(office: str) -> AsyncIterator[GraphConnection]:
    async with GraphConnection(office) as connection:
        yield connection


@pytest.fixture
def asker(graph: GraphConnection) -> Asker:
    async def embedder() -> Any:
        return load_embedder()

    return Asker(Knowledge(graph), embedder)


async def test_a_session_is_told_with_its_tasks_and_what_was_measured(
    graph: GraphConnection,
) -> None:
    account = await session_account(graph, "s-1")
    assert account.session == session(state="completed", ended_at=START + 50 * MINUTE_MS)
    # What comes back is what was told, but for the run's id, which is said.
    assert [one.task_id for one in account.delegations] == [f"t-{n}" for n in range(12)]
    assert all(one.run == one.task_id for one in account.delegations)
    assert account.delegations[3].error_code == "Mail.Empty"
    assert (account.counts.successes, account.counts.failures) == (9, 3)
    assert sorted(account.patterns, key=lambda one: one.KIND) == sorted(
        PATTERNS, key=lambda one: one.KIND
    )
    # Of another one only others have told.
    other = await session_account(graph, "s-2")
    assert other.session is None
    assert (other.counts.successes, other.counts.failures) == (2, 2)
    with pytest.raises(UnknownThing, match="knows no session 'nobody'"):
        await session_account(graph, "nobody")


async def test_delegations_are_counted_with_intervals_partial_ones_as_not_succeeded(
    graph: GraphConnection,
) -> None:
    by = {
        one.values["specialization"]: one
        for one in await delegations_counted(graph, ["specialization"])
    }
    post, writing, nobody = by["post"], by["writing"], by[None]
    # Sending: six went well here; elsewhere two did, one in part. Every second draft failed.
    assert (post.counts.successes, post.counts.failures) == (8, 1)
    assert (writing.counts.successes, writing.counts.failures) == (3, 3)
    assert (nobody.counts.successes, nobody.counts.failures) == (0, 1)
    assert post.to_json()["low"] == pytest.approx(wilson(8, 9)[0], abs=1e-4)
    assert set(writing.failed_runs) == {"t-3", "t-7", "t-11"} and post.failed_runs == ("o-22",)
    assert (post.mean_ms, post.priced) == (10_000, 8)
    skills = await delegations_counted(graph, ["skill"], Handed(Narrowed(skill="skill.mail.draft")))
    assert [(one.values["skill"], one.counts.n) for one in skills] == [(DRAFT, 7)]
    [only] = await delegations_counted(
        graph, ["companion", "task_type"], Handed(companion="ann", session="s-1")
    )
    assert only.values == {"companion": "ann", "task_type": "mail.draft"} and only.counts.n == 6
    late = Handed(Narrowed(since=START + 20 * MINUTE_MS))
    assert sum(one.counts.n for one in await delegations_counted(graph, ["day"], late)) == 4


async def test_patterns_are_found_by_what_they_are_about(graph: GraphConnection) -> None:
    assert [one.at for one in await patterns(graph)] == [NOW, *[PATTERNS[0].at] * 3]
    assert await patterns(graph, companion="ann") == [PATTERNS[2]]
    assert await patterns(graph, skill=DRAFT) == [PATTERNS[1]]
    assert await patterns(graph, skill="skill.mail.draft") == [PATTERNS[1]]
    assert [one.session_id for one in await patterns(graph, task_type="mail.send")] == ["s-2"]
    assert len(await patterns(graph, until=NOW)) == 3 and len(await patterns(graph, limit=2)) == 2


async def test_what_other_sessions_know_is_without_the_session_that_asks(
    graph: GraphConnection,
) -> None:
    past = await sessions_past(graph, excluding="s-1", now=NOW)
    skills = {(one.task_type, one.subject): one for one in past.skills}
    # Elsewhere: sending went well twice and was done in part once; a plain run went well.
    send = skills["mail.send", SEND]
    assert (send.counts.successes, send.counts.failures) == (3, 1)
    assert send.mean_ok_ms == pytest.approx((10_000 + 10_000 + 40) / 3)
    assert (send.cost_usd, send.priced) == (1.0, 2)
    told = [(START + 5 * MINUTE_MS, 1, 0), (ELSEWHERE[0].finished_at, 1, 0),
            (ELSEWHERE[1].finished_at, 0, 1), (ELSEWHERE[4].finished_at, 1, 0)]  # fmt: skip
    assert send.record == record_of(told, now=NOW)
    assert skills.keys() == {("mail.send", SEND), ("mail.send", DRAFT)}
    [post] = past.specializations
    assert (post.task_type, post.subject) == ("mail.send", "post")
    assert (post.counts.successes, post.counts.failures) == (2, 1)
    # The other way round, and by time and kind of task.
    first = await sessions_past(graph, excluding="s-2", now=NOW)
    assert {(one.subject, one.counts.n) for one in first.specializations} == {
        ("writing", 6), ("post", 6),
    }  # fmt: skip
    some = await sessions_past(
        graph, excluding="", task_types=["mail.draft"], until=START + 6 * MINUTE_MS, now=NOW
    )
    assert [(one.subject, one.counts.n) for one in some.specializations] == [("writing", 3)]
    assert [(one.subject, one.counts.n) for one in some.skills] == [(DRAFT, 3)]
    late = await sessions_past(graph, excluding="s-1", since=NOW, now=NOW)
    assert late.skills == late.specializations == ()


async def test_only_the_newest_of_what_other_sessions_did_is_looked_at(
    graph: GraphConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("dcf.knowledge.asking.sessions_past")
    monkeypatch.setattr(module, "MOST", 2)
    past = await sessions_past(graph, excluding="s-2", now=NOW)
    assert {(one.subject, one.counts.n) for one in past.specializations} == {
        ("writing", 1), ("post", 1),
    }  # fmt: skip


async def test_delegated_tasks_are_no_runs_of_workflows(graph: GraphConnection) -> None:
    [only] = await runs_counted(graph, ["workflow"])
    assert (only.values["workflow"], only.counts.n) == ("letters", 1)
    names = (await names_in(graph)).known
    assert "letters" in names and not any(name.startswith("task:") for name in names)
    assert "specialization" in names["post"]
    # A kind of task is still meant by its last part, though a workflow for it is called alike.
    assert (await names_in(graph)).within("about draft")["task_type"] == ["mail.draft"]
    assert await runs_like(graph, "plain", load_embedder()) == []
    alike = await runs_like(graph, "t-3", load_embedder())
    assert alike and all(one.workflow.startswith("task:") for one in alike)
    # The outcomes of their one Task count for skills all the same.
    sent = await crossing(graph, ["task_type"], Narrowed(skill="skill.mail.draft"))
    assert {one.values["task_type"]: one.counts.n for one in sent} == {
        "mail.draft": 6, "mail.send": 1,
    }  # fmt: skip


async def test_no_definition_of_a_task_is_suspected(office: str) -> None:
    async with GraphConnection(office, graph="fell") as graph:
        told = [
            run_of(delegation(number, status="succeeded" if number < 60 else "failed",
                              task_type="mail.draft", error_code="Mail.Empty"))
            for number in range(100)
        ]  # fmt: skip
        await write(graph, *told, *map(ended, told))
        fall = (await what_changed(graph, Narrowed(task_type="mail.draft"))).fall
        assert fall is not None and {one.kind for one in fall.suspects} == {"agent", "version"}


@pytest.mark.parametrize(
    ("words", "question", "arguments"),
    [
        ("what happened in session s-1?", "session", {"session": "s-1"}),
        ("how many delegations succeeded for mail.draft, by companion?", "delegations",
         {"task_type": "mail.draft"}),
        ("how often did delegations to ann fail?", "delegations", {"agent": "ann"}),
        ("which patterns are there about mail.draft?", "patterns", {"task_type": "mail.draft"}),
    ],
)  # fmt: skip
async def test_words_become_questions_about_sessions(
    asker: Asker, words: str, question: str, arguments: dict[str, str]
) -> None:
    asked = await asker.ask(words)
    assert asked.understood == question, (asked.matched.why_not, asked.matched.scores)
    assert {name: one[0] for name, one in asked.matched.arguments.items()} == arguments
    assert asked.result


async def test_the_answer_is_narrowed_by_what_the_words_name(asker: Asker) -> None:
    asked = await asker.ask("how many delegations of s-2 failed, by error?")
    assert {one.values["error"]: one.counts.failures for one in asked.result} == {
        None: 1, "deadline_passed": 1,
    }  # fmt: skip
    measured = await asker.ask("what was measured of ann?")
    assert measured.result == [PATTERNS[2]]


OTHERS = (
    "CREATE (:Episodic:Delegation {uuid: 'z', session_id: 's-1', ended_at: 'never', of: 'others'})",
    "CREATE (:Entity:Session {session_id: 's-1', of: 'others'})",
    "CREATE (:Entity:SkillMetric {revision: 3, measured: '[', pattern_id: 'x', measured_at: 3, "
    "of: 'others'})",
)


async def test_what_others_write_hides_nothing_about_sessions(graph: GraphConnection) -> None:
    async def told() -> list[Any]:
        account = await session_account(graph, "s-1")
        return [
            account.delegations,
            account.patterns,
            await patterns(graph),
            [one.to_json() for one in await delegations_counted(graph, ["companion"])],
            await sessions_past(graph, excluding="s-2", now=NOW),
            (await overview(graph, chosen(["dcf"]))).to_json(),
        ]

    before = await told()
    await graph.write([query(text) for text in OTHERS])
    try:
        assert await told() == before
    finally:
        await graph.write([query("MATCH (n {of: 'others'}) DETACH DELETE n")])


async def test_an_empty_graph_knows_of_no_session(office: str) -> None:
    async with GraphConnection(office, graph="nothing_yet") as empty:
        assert await delegations_counted(empty, ["companion"]) == []
        assert await patterns(empty) == []
        past = await sessions_past(empty, excluding="s-1", now=NOW)
        assert past.skills == past.specializations == ()
