"""The tools for notes of a task: what they take, and where they stand beside declared ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_samples import ToolServer, a_skill, a_tool, an_assignment
from memory_world import Numbered, Ticking
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from dcf.agents import LocalRuntime
from dcf.agents.letta.tasks import Task
from dcf.memory import Actor, Memory, NewObservation, NodeStep, Origin, Source
from dcf.worker.node_place import NodePlace
from dcf.worker.task_memory import TaskMemory

INSERT, SEARCH = "archival_memory_insert", "archival_memory_search"
PROMOTE = "memory_promote"
WEB = a_skill("web", a_tool("find"))


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[TaskMemory]:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        yield TaskMemory(memory, "/lab", NodePlace("r1", (NodeStep("run", "1", "run"),)))


def calling(*calls: tuple[str, dict[str, Any]]) -> tuple[FunctionModel, list[Any], list[set[str]]]:
    """A model that makes these calls and reports, what they returned, what it was offered."""
    returned: list[Any] = []
    offered: list[set[str]] = []

    async def say(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.append({one.name for one in info.function_tools})
        last = messages[-1].parts
        returned.extend(one.content for one in last if isinstance(one, ToolReturnPart))
        if len(returned) < len(calls):
            return ModelResponse([ToolCallPart(*calls[len(returned)])])
        return ModelResponse([ToolCallPart("report_result", {"data": 1, "summary": "done"})])

    return FunctionModel(say, model_name="scripted"), returned, offered


async def test_a_model_writes_and_finds_notes_and_hears_what_does_not_fit(
    notes: TaskMemory,
) -> None:
    other = NewObservation("change", "Sweet talk", Origin("run", "r0"), project="/lab")
    await notes.memory.observations.add(other, by=Actor("user", "ada"))
    model, returned, offered = calling(
        (INSERT, {"content": "figs are sweet"}),
        (SEARCH, {"query": "sweet"}),
        (SEARCH, {"query": "sweet", "top_k": 0}),
        (INSERT, {}),
    )
    assignment = replace(an_assignment(WEB), notes=notes)
    await LocalRuntime(model).perform(assignment, ToolServer({}), lambda _: None)
    (kept,) = await notes.read()
    assert returned[:2] == [{"id": kept.id}, [{"id": kept.id, "text": "figs are sweet"}]]
    codes = [one["error"]["code"] for one in returned[2:]]
    assert codes == ["DCF.MalformedCall", "DCF.MalformedCall"]
    assert offered[0] == {"find", INSERT, SEARCH, PROMOTE}


async def test_a_model_passes_on_what_its_branch_wrote_to_the_node_above_and_nothing_else(
    notes: TaskMemory,
) -> None:
    run, *_ = notes.place.steps
    fans = [NodeStep(f"Fan[{number}]", f"1.{number}", "iteration") for number in range(2)]
    task, beside = (replace(notes, place=NodePlace("r1", (run, one))) for one in fans)
    kept, above = await task.write("figs are sweet"), await notes.write("trees bear fruit")
    model, returned, _ = calling(
        (PROMOTE, {"id": kept.id}),
        (PROMOTE, {"id": above.id}),
        (PROMOTE, {"id": "entry-99"}),
        (PROMOTE, {"id": kept.id, "to": "r1/run"}),
    )
    assignment = replace(an_assignment(WEB), notes=task)
    await LocalRuntime(model).perform(assignment, ToolServer({}), lambda _: None)

    assert [one.text for one in await beside.read()] == ["trees bear fruit", "figs are sweet"]
    (copy,) = [one for one in await notes.read() if one.text == kept.text]
    assert returned[0] == {"id": copy.id}
    codes = [one["error"]["code"] for one in returned[1:]]
    assert codes == ["memory_entry_inherited", "memory_unknown_entry", "DCF.MalformedCall"]
    project = await notes.memory.nodes.named("/lab")
    assert await notes.memory.nodes.entries(project.id) == ()


async def test_without_notes_no_tool_for_them_is_offered() -> None:
    model, _, offered = calling()
    await LocalRuntime(model).perform(an_assignment(WEB), ToolServer({}), lambda _: None)
    assert offered == [{"find"}]


async def test_a_declared_tool_keeps_its_name(notes: TaskMemory) -> None:
    own = a_skill("archive", a_tool(INSERT))
    model, returned, offered = calling((INSERT, {}))
    assignment = replace(an_assignment(own), notes=notes)
    tools = ToolServer({INSERT: {"of": "the skill"}})
    await LocalRuntime(model).perform(assignment, tools, lambda _: None)
    assert offered[0] == {INSERT, SEARCH, PROMOTE} and returned == [{"of": "the skill"}]
    assert await notes.read() == []


async def test_a_task_on_a_letta_server_writes_to_its_node_too(notes: TaskMemory) -> None:
    task = Task(replace(an_assignment(WEB), notes=notes), ToolServer({}))
    assert {INSERT, SEARCH, PROMOTE, "find"} < task.offered().keys()
    await task.use(INSERT, {"content": "figs are sweet"})
    assert [one.text for one in await notes.read()] == ["figs are sweet"]
    assert INSERT not in Task(an_assignment(WEB), ToolServer({})).offered()
