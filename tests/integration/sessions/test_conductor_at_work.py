"""A conductor by rule with companions at work: those of a host, and one that a client serves."""

from __future__ import annotations

import asyncio

from integration.sessions.hosts import ME, Doing, Hosts, hosts_on

from dcf.sessions import NewCompanion
from dcf.sessions.companions import receive, report_result
from dcf.sessions.conductor import Conductor, Reply
from dcf.sessions.guidance import Guidance
from dcf.workflow import Failed, Outcome, Succeeded, Task


async def works(task: Task) -> Outcome:
    """Fails the first time that it is to open the door."""
    await asyncio.sleep(0.01)
    what = (task.arguments or {}).get("what")
    if what == "door" and not task.lease.workflow_id.endswith("-r1"):
        return Failed("no_key", "there is no key")
    return Succeeded({"did": what}, f"did the {what}")


def conductor_of(hosts: Hosts) -> Conductor:
    return Conductor(hosts.sessions, Guidance(hosts.sessions), ME)


async def last_word(conductor: Conductor, request_id: str) -> Reply:
    async with asyncio.timeout(20):
        while (answer := await conductor.answer("s1", request_id)) is None:
            await conductor.attend("s1")
            await asyncio.sleep(0.02)
    return answer


async def test_a_session_from_the_first_word_to_the_last_with_companions_of_a_host(
    redis_url: str,
) -> None:
    agents = Doing(works)
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", "b")
        hosts.host(agents)
        await hosts.seated("s1", 2)
        conductor = conductor_of(hosts)
        await conductor.turn(
            "s1", "- Open it what=door\n- Look what=house\n- Sum up what=all after 1, 2",
            request_id="q1",
        )  # fmt: skip
        answer = await last_word(conductor, "q1")
        assert [row.status for row in answer.rows] == ["succeeded"] * 3
        assert [row.tries for row in answer.rows] == [2, 1, 2]
        assert {who for who, _ in agents.begun} == {"s1.companion-a", "s1.companion-b"}
        await conductor.turn("s1", "And the garden what=garden", request_id="q2")
        assert (await last_word(conductor, "q2")).rows[0].result == "did the garden"
        assert (await conductor.finalize("s1")).is_last
        session = await hosts.sessions.get("s1")
    assert session.state == "completed"
    assert set(session.former) == {"companion-a", "companion-b"}


async def test_a_companion_that_a_client_serves_is_conducted_too(redis_url: str) -> None:
    async with hosts_on(redis_url) as hosts:
        await hosts.sessions.create("s1", ME, "help")
        new = NewCompanion(ME, name="client", external=True)
        companion = (await hosts.sessions.employ("s1", new)).companion_id
        await receive(hosts.sessions, "s1", companion)
        conductor = conductor_of(hosts)
        await conductor.turn("s1", "for @client: Look what=house", request_id="q1")
        received = await receive(hosts.sessions, "s1", companion, wait_s=5)
        assert received is not None
        assert received.task.input == {"what": "house"}
        await report_result(
            hosts.sessions, "s1", companion, received.task.task_id, received.lease_token,
            status="partial", summary="half of it",
        )  # fmt: skip
        answer = await last_word(conductor, "q1")
    assert (answer.rows[0].status, answer.rows[0].result) == ("partial", "half of it")
