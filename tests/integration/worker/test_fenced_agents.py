"""A worker that was frozen goes on with an agent that another one has by now: it changes nothing,
and the run does not notice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import crew_on
from memory_world import Numbered, Ticking
from unit.worker.test_worker_agent_tasks import FIND, Tools, a_skill
from unit.workflow.stage import document_of, flow

from control_plane import history
from dcf.agents import LocalAgents, TaskPerformer
from dcf.memory import Actor, Memory, NewAgent, Source
from dcf.skills import SkillCatalog
from dcf.worker import Beat, GivenBack, SkilledAgents, WorkerAgents
from dcf.workflow import Outcome, Succeeded, Task, submit

CATALOG = SkillCatalog([a_skill("find", FIND)])
BINDINGS = {
    "ephemeral": {},
    "pooled": {"lifecycle": {"mode": "pooled", "reuse_key": "desk"}},
    "existing": {"agent_ref": {"name": "keeper"}, "lifecycle": {"mode": "existing"}},
}


class Gate:
    """Where somebody waits."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def pass_(self) -> None:
        self.reached.set()
        await self.opened.wait()


class GatedTools(Tools):
    """Waits inside each call."""

    def __init__(self, gate: Gate) -> None:
        super().__init__()
        self._gate = gate

    async def call(self, *args: Any, **kwargs: Any) -> Any:
        await self._gate.pass_()
        return await super().call(*args, **kwargs)


class GatedAgents:
    """Waits when it has an agent, and has not begun a turn yet."""

    def __init__(self, workers: WorkerAgents, gate: Gate) -> None:
        self._workers = workers
        self._gate = gate

    async def performer(self, task: Task) -> TaskPerformer:
        found = await self._workers.performer(task)
        await self._gate.pass_()
        return found


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        await opened.agents.create(NewAgent("keeper"), by=Actor("user", "ada"))
        yield opened
        assert await opened.check() == ()


@pytest.mark.parametrize("inside", [False, True], ids=["before its turn", "in its turn"])
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_worker_that_was_frozen_does_not_disturb_who_took_over(
    redis_url: str, memory: Memory, binding: str, inside: bool
) -> None:
    frozen, working = Gate(), Gate()
    late_tools: Any = GatedTools(frozen) if inside else Tools()
    tools: Any = GatedTools(working)
    workers = [WorkerAgents(LocalAgents(memory)) for _ in range(2)]
    late = workers[0] if inside else GatedAgents(workers[0], frozen)
    given = {"agent_template_ref": {"name": "worker"}, "skills": ["find"], **BINDINGS[binding]}
    document = document_of(flow(A={"Type": "Task", "AgentBinding": given}), catalog=CATALOG)
    nothing: Any = None
    async with crew_on(redis_url) as crew:
        first = crew.worker(
            name="frozen",
            agents=SkilledAgents(CATALOG, late_tools, nothing, crew.store, workers=late),
            frozen=True,
            ttl_ms=300,
            concurrency=1,  # it takes nothing more, not even what was its own
        )
        await submit(crew.store, document, [1], workflow_id="r", catalog=CATALOG)
        async with asyncio.timeout(20):
            await frozen.reached.wait()
            first.drain()
            performer = SkilledAgents(CATALOG, tools, nothing, crew.store, workers=workers[1])
            crew.worker(name="second", agents=performer)
            await working.reached.wait()
            frozen.opened.set()
            while first.busy:
                await asyncio.sleep(0.01)
        working.opened.set()
        result = await crew.end("r")
        state = (await crew.store.states("r", ["A"]))["A"]
    assert result.status == "succeeded", result.failure
    assert state.try_ == 1
    [agent] = [one for one in await memory.agents.list() if one.name != "keeper"] or [
        await memory.agents.find("keeper")
    ]
    turns = await memory.turns.list(agent.id)
    # More than one, where the machine was too busy to come to a call within the lease.
    failed = len(turns) - 1
    assert failed >= 1 if inside else failed == 0
    assert [turn.state for turn in turns] == ["failed"] * failed + ["answered"]
    said = [message.role for message in await memory.messages.list(agent.id)]
    assert said == ["user"] * failed + ["user", "assistant"]


async def test_a_lease_whose_agent_was_given_back_meanwhile_is_given_back_at_once(
    redis_url: str, memory: Memory
) -> None:
    """Somebody took the tag of its holder from an agent of a pool, before its turn."""
    gate = Gate()
    workers = GatedAgents(WorkerAgents(LocalAgents(memory)), gate)
    given = {"agent_template_ref": {"name": "worker"}, "skills": ["find"], **BINDINGS["pooled"]}
    document = document_of(flow(A={"Type": "Task", "AgentBinding": given}), catalog=CATALOG)
    nothing: Any = None
    tools: Any = Tools()
    async with crew_on(redis_url) as crew:
        # Its lease holds longer than a run is waited for here.
        performer = SkilledAgents(CATALOG, tools, nothing, crew.store, workers=workers)
        crew.worker(agents=performer, ttl_ms=60_000)
        await submit(crew.store, document, [1], workflow_id="r", catalog=CATALOG)
        async with asyncio.timeout(20):
            await gate.reached.wait()
        [agent] = [one for one in await memory.agents.list() if one.name != "keeper"]
        tags = [tag for tag in agent.tags if not tag.startswith("busy:")]
        assert len(tags) < len(agent.tags)
        await memory.agents.update(agent.id, by=Actor("user", "ada"), tags=tags)
        gate.opened.set()
        result = await crew.end("r")
        state = (await crew.store.states("r", ["A"]))["A"]
    assert result.status == "succeeded", result.failure
    assert (state.try_, state.takeovers, state.deaths) == (1, 0, 0)


async def test_a_lease_whose_turn_went_to_another_is_given_back_and_charged_to_nobody(
    redis_url: str,
) -> None:
    class Agents:
        times = 0

        async def perform(self, task: Task, beat: Beat) -> Outcome:
            self.times += 1
            if self.times < 5:
                raise GivenBack("memory_turn_lost")
            return Succeeded("done")

    document = document_of(flow(A={"Type": "Task", "AgentBinding": {}}), catalog=CATALOG)
    async with crew_on(redis_url) as crew:
        crew.worker(agents=Agents())
        await submit(crew.store, document, [1], workflow_id="r", catalog=CATALOG)
        assert (await crew.end("r")).output == "done"
        events = [entry.event["type"] async for entry in history.read(crew.store, "r")]
    assert events.count("LeaseReleased") == 4
    assert "LeaseExpired" not in events
