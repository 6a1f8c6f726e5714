"""Companions with a memory: an agent each, that sees its session and is gone with the companion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from integration.sessions.hosts import ME, Hosts, hosts_on
from memory_world import Numbered, Ticking
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from unit.worker.test_worker_agent_tasks import FIND, Tools, a_skill

from dcf.agents import LocalAgents
from dcf.memory import Actor, Agent, ContextSetting, Memory, NewAgent, NewBlock, Source
from dcf.sessions import BadValue, Order, Sessions
from dcf.sessions.companions import CompanionAgents, Roster
from dcf.skills import Permissions, SkillCatalog
from dcf.worker import SkilledAgents
from dcf.worker.run_bundles import RunBundles
from dcf.worker.run_contexts import RunContexts

BY = Actor("user", "ada")
CATALOG = SkillCatalog([a_skill("find", FIND)])


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def _catalog() -> SkillCatalog:
    return CATALOG


def remembering(
    agents: LocalAgents, contexts: RunContexts | None = None, catalog: SkillCatalog = CATALOG
) -> Any:
    """How a host makes its companions remember."""

    def made(sessions: Sessions, roster: Roster) -> tuple[CompanionAgents, Any]:
        unused: Any = None
        companions = CompanionAgents(sessions, roster, unused, runtime=agents)
        tools: Any = Tools()
        return companions, SkilledAgents(
            catalog, tools, unused, sessions.store, workers=companions, contexts=contexts
        )

    return made


async def the_agent(agents: LocalAgents) -> Agent:
    [agent] = await agents.list(tags=("role:companion",))
    return agent


async def do(hosts: Hosts, task_id: str) -> None:
    order = Order(f"find {task_id}", ME, skills=("find",), input={"q": 1}, task_id=task_id)
    await hosts.sessions.delegate("s1", order)
    task = await hosts.closed("s1", task_id)
    assert (task.status, task.error) == ("succeeded", None)


async def test_a_companion_remembers_its_tasks_sees_its_session_and_shares_blocks(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    conductor = await agents.create(NewAgent(ME), [NewBlock("house_rules", "Be kind.")], by=BY)
    async with hosts_on(redis_url) as hosts:
        hosts.sessions = Sessions(hosts.open_store(), catalog=_catalog)
        await hosts.sessions.create("s1", ME, "help everybody")
        await hosts.employ(
            "s1",
            "a",
            specialization="billing",
            persona="I am exact.",
            shared_blocks=["house_rules"],
        )
        hosts.host(None, remembering=remembering(agents))
        await do(hosts, "t1")
        agent = await the_agent(agents)
        assert agent.name == "s1.companion-a"
        assert {"session:s1", "specialization:billing"} <= set(agent.tags)
        assert (await agents.block(agent.id, "persona")).value == "I am exact."
        await agents.write_block(conductor.id, "house_rules", "Be brief.", by=BY)
        assert (await agents.block(agent.id, "house_rules")).value == "Be brief."
        await do(hosts, "t2")
        # The second task is of the same conversation, and the block tells of the first one.
        assert (await the_agent(agents)).id == agent.id
        turns = await memory.turns.list(agent.id)
        assert [turn.state for turn in turns] == ["answered", "answered"]
        seen = (await agents.block(agent.id, "task_context")).value
        assert "t1" in seen and "t2" in seen
        context = (await agents.block(agent.id, "session_context:s1")).value
        assert "help everybody" in context
        await hosts.sessions.dismiss("s1", "companion-a", by=ME)
        async with asyncio.timeout(15):
            while await agents.list(tags=("role:companion",)):
                await asyncio.sleep(0.05)


async def test_a_task_works_in_a_node_below_that_of_its_companion(
    redis_url: str, memory: Memory
) -> None:
    async def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        why = {"error": "Broke", "cause": "nobody is there"}
        return ModelResponse([ToolCallPart("report_failure", why)])

    agents = LocalAgents(memory, model=FunctionModel(fail, model_name="scripted"))
    contexts = RunContexts(memory, ContextSetting(), "/shop")
    async with hosts_on(redis_url) as hosts:
        hosts.sessions = Sessions(hosts.open_store(), catalog=_catalog)
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        hosts.host(None, remembering=remembering(agents, contexts))
        order = Order("find", ME, skills=("find",), input={"q": 1}, task_id="t1")
        await hosts.sessions.delegate("s1", order)
        task = await hosts.closed("s1", "t1")
        assert task.status == "failed"
    root = await memory.nodes.named("/shop")
    *above, own = await memory.nodes.tree(root.id)
    names = [one.node.called for one in above]
    assert names == ["/shop", "s1/session", "s1/companion/companion-a"]
    assert own.node.called.startswith("s1/run/")
    (entry,) = await memory.nodes.entries(own.node.id)
    assert entry.text.endswith("failed with Broke: nobody is there")


async def test_a_companion_is_told_what_fits_its_task_of_the_files_that_its_skill_permits(
    redis_url: str, memory: Memory, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def report(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages))
        return ModelResponse([ToolCallPart("report_result", {"data": 1, "summary": "told"})])

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tea.py").write_text("def boil_tea(cups):\n    return cups * 60\n")
    permits = replace(a_skill("find", FIND), permissions=Permissions(files=("src",)))
    agents = LocalAgents(memory, model=FunctionModel(report, model_name="scripted"))
    bundles = RunBundles(memory, tmp_path, str(tmp_path))
    contexts = RunContexts(memory, ContextSetting(), str(tmp_path), bundles)
    catalog = SkillCatalog([permits])

    async def current() -> SkillCatalog:
        return catalog

    async with hosts_on(redis_url) as hosts:
        hosts.sessions = Sessions(hosts.open_store(), catalog=current)
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a")
        hosts.host(None, remembering=remembering(agents, contexts, catalog))
        for task_id, context in (("t1", {"budget": 300}), ("t2", None)):
            order = Order(
                "how long to boil tea", ME, skills=("find",), context=context, task_id=task_id
            )
            await hosts.sessions.delegate("s1", order)
            assert (await hosts.closed("s1", task_id)).status == "succeeded"
        wrong = Order("boil tea", ME, skills=("find",), context={"budget": 1})
        with pytest.raises(BadValue, match="outside 100 to"):
            await hosts.sessions.delegate("s1", wrong)
    await bundles.close()
    assert ["return cups * 60" in one for one in asked] == [True, False]


async def test_an_agent_whose_maker_died_gets_its_shared_blocks_with_its_next_task(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    await agents.create(NewAgent(ME), [NewBlock("house_rules", "Be kind.")], by=BY)
    # Made, and nothing shared yet.
    left = NewAgent("s1.companion-a", tags=("role:companion", "session:s1"))
    made = await agents.create(left, by=BY)
    async with hosts_on(redis_url) as hosts:
        hosts.sessions = Sessions(hosts.open_store(), catalog=_catalog)
        await hosts.sessions.create("s1", ME, "help")
        await hosts.employ("s1", "a", shared_blocks=["house_rules", "nothing_of_that_name"])
        hosts.host(None, remembering=remembering(agents))
        await do(hosts, "t1")
    assert (await agents.block(made.id, "house_rules")).value == "Be kind."


async def test_companions_of_one_name_in_two_sessions_are_two_agents(
    redis_url: str, memory: Memory
) -> None:
    agents = LocalAgents(memory)
    async with hosts_on(redis_url) as hosts:
        hosts.sessions = Sessions(hosts.open_store(), catalog=_catalog)
        for session_id in ("s1", "s2"):
            await hosts.sessions.create(session_id, ME, "help")
            await hosts.employ(session_id, "a")
        hosts.host(None, remembering=remembering(agents))
        for session_id in ("s1", "s2"):
            order = Order(f"a secret of {session_id}", ME, task_id=f"of-{session_id}")
            await hosts.sessions.delegate(session_id, order)
            task = await hosts.closed(session_id, f"of-{session_id}")
            assert (task.status, task.companion_id) == ("succeeded", "companion-a")
        names = [agent.name for agent in await agents.list(tags=("role:companion",))]
        assert names == ["s1.companion-a", "s2.companion-a"]
        await hosts.sessions.dismiss("s1", "companion-a", by=ME)
        async with asyncio.timeout(15):
            while len(await agents.list(tags=("role:companion",))) > 1:
                await asyncio.sleep(0.05)
        agent = await the_agent(agents)
        messages = await agents.messages(agent.id)
    assert agent.name == "s2.companion-a"
    assert "secret of s1" not in repr(messages)
