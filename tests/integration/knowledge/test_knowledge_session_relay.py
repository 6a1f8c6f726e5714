"""Sessions from the outbox on a real Redis to a real graph: told once, whoever dies in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from integration.knowledge.office import DELEGATIONS, PATTERNS, delegation, session
from integration.knowledge.world import START, dump, meanings, stats
from integration.worker.crew import Crew, crew_on

from control_plane import Outbox
from dcf.knowledge import (
    DelegationFact,
    Knowledge,
    Privacy,
    Relay,
    SessionFact,
    tell_fact,
)
from dcf.knowledge.asking import (
    Asker,
    delegations_counted,
    session_account,
    sessions_listed,
    sessions_past,
)
from dcf.knowledge.session_fact import SessionRecord
from dcf.sessions import NewCompanion, Order, Sessions, agent_of
from dcf.sessions.companions import receive, report_result

RECORDS: list[SessionRecord] = [session(), *DELEGATIONS, *PATTERNS, session(state="completed")]


@pytest.fixture
async def crew(redis_url: str) -> AsyncIterator[Crew]:
    async with crew_on(redis_url, outbox=True) as opened:
        yield opened


def relay_of(crew: Crew, knowledge: Knowledge, name: str = "r1") -> Relay:
    return Relay(
        crew.store, knowledge.graph, Privacy(), name=name, clock=lambda: START,
        meanings=meanings(),
    )  # fmt: skip


async def tell(crew: Crew, *records: SessionRecord) -> Outbox:
    outbox = Outbox(crew.store.backend)
    for record in records:
        await tell_fact(outbox, record)
    return outbox


async def test_what_was_told_is_in_the_graph_as_it_was_told_last(
    crew: Crew, graph_url: str
) -> None:
    outbox = await tell(crew, *RECORDS)
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
        assert (done.records, done.refused) == (len(RECORDS), 0)
        assert (await outbox.lag()).waiting == 0
        account = await session_account(knowledge.graph, "s-1")
        assert account.session is not None and account.session.state == "completed"
        assert (len(account.delegations), len(account.patterns)) == (12, 3)
        before = await dump(knowledge.graph)
        # Told once more, as after a crash, in the order that they had.
        await tell(crew, *DELEGATIONS, RECORDS[-1])
        await relay_of(crew, knowledge).drain()
        account_now = await session_account(knowledge.graph, "s-1")
        assert account_now == account
        assert len((await dump(knowledge.graph))[1]) == len(before[1])


async def test_a_reader_that_dies_before_it_settles_loses_and_doubles_nothing(
    crew: Crew, graph_url: str
) -> None:
    outbox = await tell(crew, *RECORDS)
    async with Knowledge.open(graph_url) as knowledge:
        dying = relay_of(crew, knowledge, "dying")
        await dying.outbox.open()
        await dying.write(await dying.outbox.read(9))
        written = await dump(knowledge.graph)
        # The next one has the rest, and then what was not settled: late, and once more.
        done = await relay_of(crew, knowledge, "next").drain()
        assert done.records == len(RECORDS) and len(written[0]) > 0
        assert (await outbox.lag()).waiting == 0
        account = await session_account(knowledge.graph, "s-1")
        assert account.session is not None and account.session.state == "completed"
        assert [one.task_id for one in account.delegations] == [one.task_id for one in DELEGATIONS]
        [total] = await delegations_counted(knowledge.graph, [])
        assert (total.counts.successes, total.counts.n) == (9, 12)
        await dying.settle()


async def test_two_readers_at_the_same_time_write_each_record_once(
    crew: Crew, graph_url: str
) -> None:
    many = [delegation(number, session_id=f"s-{number % 7}") for number in range(200)]
    await tell(crew, *(session(f"s-{number}") for number in range(7)), *many)
    async with Knowledge.open(graph_url) as one, Knowledge.open(graph_url) as other:
        await asyncio.gather(
            *(relay_of(crew, at, f"r{n}").drain() for n, at in enumerate([one, other, one]))
        )
        counted = await one.graph.read("MATCH (e:Delegation) RETURN count(e)")
        facts = await one.graph.read(
            "MATCH ()-[x:RELATES_TO]->() RETURN count(x), count(DISTINCT x.uuid)"
        )
        sessions = await one.graph.read("MATCH (n:Session) RETURN count(n), min(n.revision) > 0")
    # Two companions and one conductor, all of them in all of the sessions.
    assert (counted, facts, sessions) == ([[200]], [[23, 23]], [[7, True]])


async def test_what_is_no_such_record_is_put_aside_and_the_others_are_written(
    crew: Crew, graph_url: str
) -> None:
    outbox = await tell(crew, session())
    wrong = delegation().to_json()
    await outbox.put(DelegationFact.KIND, "t-x", {**wrong, "session_id": "'}) DELETE n"})
    await outbox.put(DelegationFact.KIND, "t-y", {**wrong, "status": "queued"})
    await outbox.put(SessionFact.KIND, "s-x", ["no", "object"])
    await outbox.put(PATTERNS[0].KIND, "p-x", {**PATTERNS[0].to_json(), "values": {"a": "b"}})
    await tell(crew, delegation(1))
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
        assert (done.records, done.refused) == (2, 4)
        assert ((await outbox.lag()).waiting, (await outbox.lag()).refused) == (0, 4)
        assert len((await session_account(knowledge.graph, "s-1")).delegations) == 1


async def test_a_session_that_goes_on_is_told_with_the_companions_that_it_has(
    crew: Crew, graph_url: str
) -> None:
    sessions = Sessions(crew.store)
    await sessions.create("s1", "boss", "post")
    await sessions.tick("s1")
    async with Knowledge.open(graph_url) as knowledge:
        relay = relay_of(crew, knowledge)
        for companions in range(3):
            await relay.drain()
            (told,) = await sessions_listed(knowledge.graph)
            assert (told.state, told.companions) == ("active", companions)
            await sessions.employ("s1", NewCompanion("boss", "post", external=True))
            await sessions.tick("s1")
        asked = await Asker(knowledge, _no_embedder).ask("which sessions are there?")
        assert [one.session_id for one in asked.result] == ["s1"]


async def test_tasks_that_were_really_done_count_for_skills_once_and_know_their_session(
    crew: Crew, graph_url: str
) -> None:
    sessions = Sessions(crew.store)
    await sessions.create("s1", "boss", "help ann@mail.example")
    made = await sessions.employ("s1", NewCompanion("boss", "post", external=True))
    ann = made.companion_id
    assert await receive(sessions, "s1", ann) is None
    for number, status in enumerate(("succeeded", "failed", "partial")):
        await sessions.delegate(
            "s1", Order("send it", "boss", task_id=f"t{number}", task_type="mail.send")
        )
        received = await receive(sessions, "s1", ann, wait_s=5)
        assert received is not None
        await report_result(
            sessions, "s1", ann, f"t{number}", received.lease_token,
            status=status, summary="it is so",
            error_code="Mail.Bounced" if status == "failed" else None,
        )  # fmt: skip
    await sessions.end("s1", by="boss")
    await sessions.tick("s1")
    async with Knowledge.open(graph_url) as knowledge:
        done = await relay_of(crew, knowledge).drain()
        assert (done.runs, done.refused) == (3, 0)
        outcomes = [one async for one in knowledge.outcomes()]
        assert [(one.session, one.workflow_name, one.task_type) for one in outcomes] == [
            ("s1", "task:mail.send", "mail.send")
        ] * 3
        account = await session_account(knowledge.graph, "s1")
        assert [one.status for one in account.delegations] == ["succeeded", "failed", "partial"]
        assert [one.run for one in account.delegations] == [one.workflow_id for one in outcomes]
        assert account.session is not None and account.session.state == "completed"
        assert "ann@" not in str(await dump(knowledge.graph))
        assert await stats(knowledge.graph) == {}
        # One node for the companion, as which it worked, and to which was delegated.
        agents = await knowledge.graph.read(
            "MATCH (a:Agent)-[x:RELATES_TO]-() RETURN a.name, collect(DISTINCT x.name)"
        )
        assert {name: set(facts) for name, facts in agents} == {
            "boss": {"TOOK_PART_IN", "DELEGATED_TO"},
            agent_of("s1", ann): {"TOOK_PART_IN", "DELEGATED_TO", "WORKED_ON"},
        }
        # No name of what is asked about hides it.
        asked = await Asker(knowledge, _no_embedder).ask("which companion fails most?")
        assert [one.values["companion"] for one in asked.result] == [agent_of("s1", ann)]
        past = await sessions_past(knowledge.graph, excluding="s1", now=START)
        assert past.specializations == ()
        past = await sessions_past(knowledge.graph, excluding="s2", now=START)
        assert [(one.subject, one.counts.successes, one.counts.n) for one in (
            past.specializations)] == [("post", 1, 3)]  # fmt: skip


async def _no_embedder() -> Any:
    raise AssertionError("nothing compares texts here")
