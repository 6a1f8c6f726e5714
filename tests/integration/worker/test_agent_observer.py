"""Turns of agents outside of runs, and calls that a person refused there, are observed once each,
whoever dies or looks at the same time."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from campaigns import campaign
from extraction_world import agent_of, called, converse
from integration.worker.mortal_observer import MORTAL
from memory_world import started

from control_plane import AgentStore, RedisBackend, Store
from dcf.agents.loading import AgentLedger, decide_agent_approval, pending_agent_approvals
from dcf.memory import SYSTEM, Memory, Observation, Source, ToolSpec, TurnFence, Usage, random_id
from dcf.tools import ApprovalRequest, Decision
from dcf.worker import AgentObserver, RunObserver

CUSTOMER = "customer 4711 of Kassel"
FAILURE = {"status": "error", "error": {"code": "Pay.Busy", "message": CUSTOMER}}


@pytest.fixture
async def backend(redis_url: str) -> AsyncIterator[RedisBackend]:
    opened = RedisBackend.from_url(redis_url)
    yield opened
    await opened.close()


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=now, new_id=random_id, embedder="none") as opened:
        yield opened
        assert await opened.check() == ()


def now() -> int:
    return time.time_ns() // 1_000_000


async def rows(memory: Memory) -> dict[str, Observation]:
    found = await memory.observations.list()
    for one in found:
        assert CUSTOMER not in repr(one), "no agent is told of whom it was"
    return {one.title: one for one in found}


async def agent_with_tools(memory: Memory, name: str = "ada") -> str:
    agent_id = await agent_of(memory, name)
    await memory.attached_tools.attach(agent_id, [ToolSpec("pay")], by=SYSTEM)
    return agent_id


async def failing_turn(memory: Memory, agent_id: str, fence: TurnFence | None = None) -> None:
    steps = [step for _ in range(3) for step in called("pay", CUSTOMER, FAILURE, failed=True)]
    await converse(
        memory, agent_id, f"Pay for {CUSTOMER}", "no", *steps, fence=fence, used=Usage(tool_calls=3)
    )


async def refused(records: AgentStore, agent_id: str, by: str = "ada") -> None:
    """A call of the agent waits for somebody, who refuses it."""
    asked = ApprovalRequest(
        "bank", "refund", {"to": CUSTOMER}, f"d-{agent_id}", ("skill.pay",), "high", CUSTOMER, by
    )
    ledger = await AgentLedger.open(records, agent_id, session="talk")
    ask = Decision("ask", "risk.high", "", "bank", "refund", asked.digest, approval=asked)
    await ledger.note(ask)
    (waiting,) = await pending_agent_approvals(records, agent_id)
    await decide_agent_approval(
        records, agent_id, waiting.id, decision="reject", by=by, reason=f"not for {CUSTOMER}"
    )


async def test_a_tool_that_fails_and_a_refused_call_are_kept_once(
    backend: RedisBackend, memory: Memory
) -> None:
    records, agent_id = AgentStore(backend), await agent_with_tools(memory)
    await records.create(agent_id, "ada")
    await failing_turn(memory, agent_id)
    await failing_turn(memory, agent_id, TurnFence("run-1/Pay/1", 1))
    await refused(records, agent_id)
    # One that nobody answered, and one of an agent that this memory does not have.
    await records.create("stranger", "stranger")
    await refused(records, "stranger")
    assert await AgentObserver(records, memory).sweep() == 2
    assert await AgentObserver(records, memory).sweep() == 0
    found = await rows(memory)
    failed = found["pay failed again and again"]
    assert (failed.times, failed.facts) == (1, ("It failed with Pay.Busy.",))
    assert str(failed.origin.citation) == f"dcf://agent/{agent_id}/message/1"
    no = found["A person refused an agent bank:refund"]
    assert (no.type, no.origin.source_id, no.extracted) == ("decision", agent_id, False)
    (seen,) = await memory.observations.occurrences(no.id)
    assert seen.note == f"ada: not for {CUSTOMER}", "people read why"
    assert len(found) == 2


async def test_observers_that_are_cut_off_anywhere_leave_each_turn_observed_once(
    backend: RedisBackend, memory: Memory
) -> None:
    records, rng = AgentStore(backend), random.Random(7)
    agents = [await agent_with_tools(memory, f"a{number}") for number in range(8)]
    for agent_id in agents:
        await records.create(agent_id, agent_id)
        await failing_turn(memory, agent_id)
        await refused(records, agent_id)

    async def cut_off() -> None:
        agents = AgentObserver(records, memory)
        observer = RunObserver(Store(backend), memory, "/shop", besides=(agents.sweep,))
        task = asyncio.create_task(observer.run())
        for _ in range(rng.randrange(120)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    for _ in range(8):
        await asyncio.gather(cut_off(), cut_off())
    await AgentObserver(records, memory).sweep()
    assert {one.times for one in (await rows(memory)).values()} == {len(agents)}
    assert len(await rows(memory)) == 2


_STEPS = 5_000
"""Calls that it makes until it is done, about."""


@campaign(50)
async def test_an_observer_that_is_killed_anywhere_leaves_each_turn_observed_once(
    redis_url: str, backend: RedisBackend, tmp_path: Path, share: int
) -> None:
    source, records = Source(tmp_path / "m.db"), AgentStore(backend)
    async with Memory.open(source, clock=now, new_id=random_id, embedder="none") as memory:
        agents = [await agent_with_tools(memory, f"a{number}") for number in range(4)]
        for agent_id in agents:
            await records.create(agent_id, agent_id)
            await failing_turn(memory, agent_id)
            await refused(records, agent_id)
    mortal = started(MORTAL, redis_url, source.path, random.Random(share).randint(1, _STEPS))
    _, said = await asyncio.to_thread(mortal.communicate)
    assert mortal.returncode in (0, -9), said
    async with Memory.open(source, clock=now, new_id=random_id, embedder="none") as memory:
        await AgentObserver(records, memory).sweep()
        assert sorted(one.times for one in (await rows(memory)).values()) == [4, 4]
        assert await memory.check() == ()
