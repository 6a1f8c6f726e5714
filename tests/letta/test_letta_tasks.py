"""Tasks of a run, done by an agent on a Letta server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from letta_world import LettaWorld, letta_server
from runtime_world import Calls, Says

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "agents"))

from agent_samples import ToolServer, a_skill, a_tool, an_assignment, schema

from dcf.agents import TaskError, TurnEvent
from dcf.agents.letta import LettaAgents
from dcf.memory import Actor, NewAgent, NewBlock
from dcf.tools import PermissionDenied, ToolTimeout

SEARCH = a_skill(
    "search", a_tool("web.find", schema(("query",), query={"type": "string"})), directives="Cite."
)


async def test_a_task_is_done_with_the_declared_tools_and_reported(
    world: LettaWorld, by: Actor
) -> None:
    blocks = [NewBlock("persona", "A careful scout.")]
    agent = await world.runtime.create(NewAgent("scout"), blocks, by=by)
    tools = ToolServer({"web.find": {"hits": 3}})
    told: list[TurnEvent] = []
    world.script(
        Calls("web_find", {"query": "x"}),
        Calls("report_result", {"data": {"hits": 3}, "summary": "Three hits."}),
        Says("Good morning."),
    )
    assignment = an_assignment(SEARCH, task_input={"query": "x"})
    report = await world.runtime.perform(assignment, tools, told.append, agent_id=agent.id)
    assert (report.data, report.summary) == ({"hits": 3}, "Three hits.")
    assert report.metrics["llm_calls"] == 2 and report.metrics["estimated_cost_usd"] is None
    assert next(event.tool for event in told if event.kind == "tool_call") == "web.find"
    first = world.prompts()[0]
    assert "A careful scout." in first and "Cite." in first and "web_find" in first
    # The agent remembers, and its next turn is not held up by the report.
    assert (await world.runtime.send(agent.id, "Good morning.")).text == "Good morning."
    assert "Three hits." in world.prompts()[-1]


async def test_without_an_agent_a_task_leaves_none_behind(world: LettaWorld) -> None:
    world.script(Says('{"hits": 0}'))
    report = await world.runtime.perform(an_assignment(SEARCH), ToolServer({}), lambda _: None)
    assert report.data == {"hits": 0}
    assert await world.runtime.list() == ()


async def test_a_failure_that_is_reported_fails_the_task(world: LettaWorld) -> None:
    world.script(Calls("report_failure", {"error": "Web.Empty", "cause": "nothing there"}))
    with pytest.raises(TaskError) as raised:
        await world.runtime.perform(an_assignment(SEARCH), ToolServer({}), lambda _: None)
    assert (raised.value.error, raised.value.cause) == ("Web.Empty", "nothing there")


async def test_arguments_that_are_refused_go_back_to_the_model_and_a_dead_tool_ends_the_task(
    world: LettaWorld,
) -> None:
    refused = PermissionDenied("web", "find", "query is too short", [], rule="arguments.invalid")
    tools = ToolServer({"web.find": refused})
    world.script(Calls("web_find", {"query": ""}), Says("done"))
    report = await world.runtime.perform(an_assignment(SEARCH), tools, lambda _: None)
    assert report.data == "done" and "query is too short" in world.prompts()[-1]

    stopped: list[TurnEvent] = []
    world.script(Calls("web_find", {"query": "x"}))
    with pytest.raises(TaskError) as raised:
        tools = ToolServer({"web.find": ToolTimeout("web", "find", 3)})
        await world.runtime.perform(an_assignment(SEARCH), tools, stopped.append)
    assert raised.value.error == "DCF.ToolTimeout"
    assert stopped[-1].kind == "stopped"
    assert stopped[-1].metrics is not None and stopped[-1].metrics["llm_calls"] == 1


async def test_a_server_that_is_down_fails_the_task_by_a_name_that_retry_matches() -> None:
    down = LettaAgents(letta_server(url="http://127.0.0.1:9"))
    with pytest.raises(TaskError) as raised:
        await down.perform(an_assignment(SEARCH), ToolServer({}), lambda _: None)
    await down.aclose()
    assert raised.value.error == "DCF.AgentUnavailable"
