"""The agents of a run's Tasks: made from a template, listed by tags, gone when the run is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from integration.worker.crew import Crew, crew_on
from memory_world import Numbered, Ticking
from unit.worker.test_worker_agent_tasks import FIND, Tools, a_skill
from unit.workflow.stage import document_of, flow, mapping

from dcf.agents import LocalAgents
from dcf.agents.templates import template_named
from dcf.memory import Actor, Agent, Memory, NewAgent, NewBlock, Source
from dcf.skills import SkillCatalog
from dcf.tools import ToolUnavailable
from dcf.worker import AgentSweeper, SkilledAgents, WorkerAgents, is_sealed, tags_for
from dcf.workflow import Result, finalize, submit

BY = Actor("user", "ada")
CATALOG = SkillCatalog([a_skill("find", FIND)])


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


def bound(**binding: Any) -> dict[str, Any]:
    given = {"agent_template_ref": {"name": "worker"}, "skills": ["find"], **binding}
    return {"Type": "Task", "AgentBinding": given}


async def run(
    crew: Crew,
    workers: WorkerAgents,
    definition: dict[str, Any],
    sweeper: AgentSweeper | None = None,
) -> Result:
    """A run, to its end, with tasks done by agents of ``workers``."""
    tools: Any = Tools()
    runtime: Any = None
    performer = SkilledAgents(CATALOG, tools, runtime, crew.store, workers=workers)
    crew.worker(agents=performer, on_sealed=sweeper.end if sweeper else None)
    document = document_of(definition, catalog=CATALOG)
    await submit(crew.store, document, [1, 2], workflow_id="r", catalog=CATALOG)
    return await crew.end("r")


async def tagged(agents: LocalAgents, *tags: str) -> list[Agent]:
    return list(await agents.list(tags=tags))


async def test_each_instance_has_an_agent_until_the_run_is_over(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)
    async with crew_on(redis_url) as crew:
        definition = flow(M=mapping(flow(Fetch=bound())), B=bound())
        assert (await run(crew, workers, definition)).status == "succeeded"
        made = await tagged(agents, "wf:r", "role:worker")
        assert len(made) == 3
        assert len(await tagged(agents, "wf:r", "state:Fetch")) == 2
        assert {agent.template_digest for agent in made} == {template_named("worker").digest}
        for agent in made:
            messages = await agents.messages(agent.id)
            assert [message.role for message in messages] == ["user", "assistant"]
            (turn,) = await memory.turns.list(agent.id)
            assert turn.state == "answered" and turn.usage.tool_calls == 1
        await finalize(crew.store, "r", by="test")
        assert await workers.sweep(lambda one: is_sealed(crew.store, one)) == 3
        assert await tagged(agents) == []


async def test_who_seals_a_run_deletes_its_agents_at_once(
    redis_url: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.worker.agent_sweeper._EVERY_S", 3600)
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)
    async with crew_on(redis_url) as crew:
        sweeper = AgentSweeper(workers, partial(is_sealed, crew.store))
        sweeping = asyncio.create_task(sweeper.run())
        await asyncio.sleep(0.05)  # Its first sweep is over; the next one is an hour away.
        assert (await run(crew, workers, flow(A=bound()), sweeper)).status == "succeeded"
        while await tagged(agents):
            await asyncio.sleep(0.01)
        sweeping.cancel()


async def test_the_last_sweep_deletes_what_nobody_had_time_for(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)
    async with crew_on(redis_url) as crew:
        assert (await run(crew, workers, flow(A=bound()))).status == "succeeded"
        await finalize(crew.store, "r", by="test")
        assert len(await tagged(agents)) == 1
        sealed = partial(is_sealed, crew.store)
        await AgentSweeper(workers, sealed).at_last(sealed)
        assert await tagged(agents) == []


async def test_an_agent_that_is_there_does_its_tasks_and_remembers_them(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)
    blocks = [NewBlock("human", "Ada.")]
    existing = await agents.create(NewAgent("keeper", tags=("mine",)), blocks, by=BY)
    async with crew_on(redis_url) as crew:
        binding = {"agent_ref": {"name": "keeper"}, "lifecycle": {"mode": "existing"}}
        definition = flow(A=bound(**binding), B=bound(**binding))
        assert (await run(crew, workers, definition)).status == "succeeded"
        await workers.delete("r")
    assert (await agents.get(existing.id)).tags == ("mine",)
    assert len(await agents.messages(existing.id)) == 4


async def test_an_agent_made_for_a_state_does_its_task_and_goes_with_the_run(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    now = Ticking()
    workers = WorkerAgents(agents, clock=now)
    made = await agents.create(NewAgent("mine", tags=tags_for("r", "A b")), by=BY)

    async def over(_: str) -> bool:
        return True

    assert await workers.sweep(over) == 0, "its run may not be there yet"
    async with crew_on(redis_url) as crew:
        result = await run(crew, workers, flow(**{"A b": bound(), "B": bound()}))
        assert result.status == "succeeded"
    assert len(await agents.messages(made.id)) == 2
    assert len(await tagged(agents, "wf:r")) == 2
    assert await workers.delete("r") == 2
    await agents.create(NewAgent("never used", tags=tags_for("s", "A")), by=BY)
    now.now += 3_700_000
    assert await workers.sweep(over) == 1


async def test_a_task_that_fails_leaves_what_it_used(redis_url: str, memory: Memory) -> None:
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)

    class Broken(Tools):
        async def call(self, *args: Any, **kwargs: Any) -> Any:
            raise ToolUnavailable("web", "http://nowhere", "it is gone")

    tools: Any = Broken()
    runtime: Any = None
    async with crew_on(redis_url) as crew:
        crew.worker(agents=SkilledAgents(CATALOG, tools, runtime, crew.store, workers=workers))
        document = document_of(flow(A=bound()), catalog=CATALOG)
        await submit(crew.store, document, [1], workflow_id="r", catalog=CATALOG)
        assert (await crew.end("r")).status == "failed"
    (agent,) = await tagged(agents, "wf:r")
    (turn,) = await memory.turns.list(agent.id)
    assert (turn.state, turn.error) == ("failed", "DCF.ToolUnavailable")
    assert turn.usage.tool_calls == 1


async def test_an_agent_that_is_not_there_fails_the_task(redis_url: str, memory: Memory) -> None:
    workers = WorkerAgents(LocalAgents(memory))
    async with crew_on(redis_url) as crew:
        binding = {"agent_ref": {"name": "nobody"}, "lifecycle": {"mode": "existing"}}
        result = await run(crew, workers, flow(A=bound(**binding)))
        state = (await crew.store.states("r", ["A"]))["A"]
    assert result.status == "failed"
    assert state.error is not None and state.error.error == "DCF.AgentUnavailable"


async def test_a_pooled_agent_is_used_again_and_stays(redis_url: str, memory: Memory) -> None:
    agents = LocalAgents(memory)
    workers = WorkerAgents(agents)
    async with crew_on(redis_url) as crew:
        pooled = {"lifecycle": {"mode": "pooled", "reuse_key": "desk"}}
        definition = flow(A=bound(**pooled), B=bound(**pooled))
        assert (await run(crew, workers, definition)).status == "succeeded"
        await workers.delete("r")
    (agent,) = await tagged(agents, "pool:desk")
    assert not any(tag.startswith(("busy:", "wf:")) for tag in agent.tags)
    assert len(await agents.messages(agent.id)) == 4
