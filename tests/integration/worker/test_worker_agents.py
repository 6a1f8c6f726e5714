"""The agents of a run's Tasks: made from a template, listed by tags, gone when the run is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
from dcf.worker import SkilledAgents, WorkerAgents, is_sealed
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


async def run(crew: Crew, workers: WorkerAgents, definition: dict[str, Any]) -> Result:
    """A run, to its end, with tasks done by agents of ``workers``."""
    tools: Any = Tools()
    runtime: Any = None
    crew.worker(agents=SkilledAgents(CATALOG, tools, runtime, crew.store, workers=workers))
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
