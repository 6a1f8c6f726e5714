"""Sessions: who works with which agent where, over restarts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    InvalidEntry,
    Memory,
    NewAgent,
    NewMessage,
    SessionEnded,
    Source,
    UnknownAgent,
    UnknownSession,
    WorkContext,
    current_context,
    working_in,
)

BY = Actor("user", "ada")


async def agent(memory: Memory, name: str) -> str:
    return (await memory.agents.create(NewAgent(name), by=BY, blocks=())).id


async def test_a_session_begins_and_ends(memory: Memory) -> None:
    anna = await agent(memory, "anna")
    begun = await memory.sessions.begin(anna, by=BY)
    assert (begun.project, begun.ended_at, begun.has_loaded_skills) == (None, None, False)
    assert await memory.sessions.get(begun.id) == begun
    loaded = await memory.sessions.note_loaded_skills(begun.id, by=BY)
    assert loaded.has_loaded_skills
    ended = await memory.sessions.end(begun.id, by=BY, reason="done")
    assert ended.ended_at is not None
    assert ended.end_reason == "done"
    assert await memory.sessions.end(begun.id, by=BY, reason="again") == ended
    with pytest.raises(SessionEnded, match="done"):
        await memory.sessions.note_loaded_skills(begun.id, by=BY)
    with pytest.raises(UnknownSession):
        await memory.sessions.get("session-9")
    with pytest.raises(UnknownAgent):
        await memory.sessions.begin("agent-9", by=BY)
    with pytest.raises(InvalidEntry):
        await memory.sessions.begin(anna, by=BY, project="nowhere")
    with pytest.raises(InvalidEntry):
        await memory.sessions.begin(anna, by=BY, skills_directory=" ")


async def test_a_session_in_a_project_makes_it_and_enters_it(memory: Memory) -> None:
    anna = await agent(memory, "anna")
    session = await memory.sessions.begin(anna, by=BY, project="/work/shop/")
    assert session.project == "/work/shop"
    assert (await memory.projects.get("/work/shop")).last_agent_id == anna
    assert await memory.projects.agents("/work/shop") == (anna,)
    alone = await memory.sessions.begin(anna, by=BY)
    elsewhere = await memory.sessions.begin(anna, by=BY, project="/work/blog")
    assert (await memory.sessions.get(session.id)).end_reason == (
        "the agent went to another project"
    )
    still = await memory.sessions.list(agent_id=anna, ended=False)
    assert [one.id for one in still] == [elsewhere.id, alone.id], "newest first"
    assert [one.id for one in await memory.sessions.list(project="/work/shop/")] == [session.id]


async def test_the_last_agent_of_a_project_is_there_after_a_restart(tmp_path: Path) -> None:
    source, clock, ids = Source(tmp_path / "m.db"), Ticking(), Numbered()
    async with Memory.open(source, clock=clock, new_id=ids) as memory:
        anna, bert = await agent(memory, "anna"), await agent(memory, "bert")
        await memory.sessions.begin(bert, by=BY, project="/a")
        first = await memory.sessions.begin(
            anna, by=BY, project="/a", skills_directory="/a/.skills"
        )
    async with Memory.open(source, clock=clock, new_id=ids) as memory:
        resumed = await memory.sessions.resume("/a", by=BY)
        assert resumed is not None
        assert resumed.id != first.id
        assert (resumed.agent_id, resumed.project) == (anna, "/a")
        assert resumed.skills_directory == "/a/.skills"
        assert not resumed.has_loaded_skills, "that is of a session"
        assert await memory.sessions.resume("/b", by=BY) is None
        await memory.agents.delete(anna, by=BY)
        assert await memory.sessions.resume("/a", by=BY) is None
        assert [one.agent_id for one in await memory.sessions.list()] == [bert]
        assert await memory.check() == ()


async def test_sessions_go_with_a_project_that_moves(memory: Memory) -> None:
    anna = await agent(memory, "anna")
    session = await memory.sessions.begin(anna, by=BY, project="/a", skills_directory="/skills")
    await memory.projects.update("/a", by=BY, path="/b")
    resumed = await memory.sessions.resume("/b", by=BY)
    assert resumed is not None
    assert resumed.skills_directory == "/skills"
    assert (await memory.sessions.get(session.id)).ended_at is None, "it went nowhere else"


async def test_a_rollback_of_the_agent_leaves_its_session_alone(memory: Memory) -> None:
    anna = await agent(memory, "anna")
    before = await memory.events.last()
    session = await memory.sessions.begin(anna, by=BY, project="/a")
    await memory.events.roll_back_agent(anna, before, by=BY)
    assert await memory.projects.of_agent(anna) is None, "that it entered is undone"
    assert (await memory.sessions.get(session.id)).ended_at is None


async def test_messages_of_a_session_are_found_by_it(memory: Memory) -> None:
    anna = await agent(memory, "anna")
    session = await memory.sessions.begin(anna, by=BY)
    await memory.messages.append(anna, NewMessage("user", "Before."), by=BY)
    said = NewMessage("user", "Within.", session_id=session.id)
    await memory.messages.append(anna, said, by=BY)
    (found,) = await memory.messages.list(anna, session_id=session.id)
    assert found.content == "Within."


async def test_the_current_context_is_that_of_the_innermost_block_and_of_each_task(
    memory: Memory,
) -> None:
    anna = await agent(memory, "anna")
    session = await memory.sessions.begin(anna, by=BY, project="/a", skills_directory="/s")
    context = await memory.sessions.context(session.id)
    assert context == WorkContext(anna, session.id, "/a", "/s", False, session.started_at)
    other = WorkContext.of(await memory.sessions.begin(anna, by=BY))
    seen: list[WorkContext | None] = []

    async def elsewhere(mine: WorkContext) -> None:
        with working_in(mine):
            await asyncio.sleep(0)
            seen.append(current_context())

    assert current_context() is None
    with working_in(context):
        await asyncio.gather(elsewhere(other), elsewhere(context))
        assert current_context() == context, "a task changes only its own"
    assert current_context() is None
    assert seen == [other, context]
