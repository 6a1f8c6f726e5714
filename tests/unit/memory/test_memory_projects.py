"""Projects: what they share, and how the agents that work in them see it."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_world import Numbered, Ticking

from dcf.memory import (
    Actor,
    BlockExists,
    BlockOfProject,
    InvalidEntry,
    Memory,
    MemoryProblem,
    NewAgent,
    NewBlock,
    NewProject,
    NoSuchBlock,
    NotShareable,
    ProjectExists,
    ProjectHasLabel,
    RevisionConflict,
    Source,
    UnknownAgent,
    UnknownBlock,
    UnknownProject,
    UnknownProjectBlock,
)

BY = Actor("user", "ada")


async def agent(memory: Memory, name: str, *blocks: NewBlock) -> str:
    return (await memory.agents.create(NewAgent(name), by=BY, blocks=blocks)).id


async def labels(memory: Memory, agent_id: str) -> list[str]:
    return [block.label for block in await memory.blocks.list(agent_id)]


async def test_a_project_is_kept_by_its_path(memory: Memory) -> None:
    made = await memory.projects.create(NewProject("/work/shop/", metadata={"k": 1}), by=BY)
    assert (made.path, made.name, made.metadata) == ("/work/shop", "shop", {"k": 1})
    assert await memory.projects.get("/work/shop/.") == made
    assert await memory.projects.ensure("/work/shop", by=BY) == made
    other = await memory.projects.ensure("/work/blog", by=BY)
    assert await memory.projects.list() == (other, made)
    assert await memory.projects.list(after=other.path, limit=1) == (made,)


async def test_a_project_is_changed_with_its_revision(memory: Memory) -> None:
    made = await memory.projects.create(NewProject("/a"), by=BY)
    own = await memory.projects.create_block("/a", NewBlock("plan"), by=BY)
    moved = await memory.projects.update("/a", by=BY, expected=1, path="/b", name="Bee")
    assert (moved.id, moved.path, moved.name, moved.revision) == (made.id, "/b", "Bee", 2)
    assert (await memory.blocks.get(own.id)).project == "/b"
    with pytest.raises(RevisionConflict):
        await memory.projects.update("/b", by=BY, expected=1, name="Cee")
    await memory.projects.create(NewProject("/c"), by=BY)
    with pytest.raises(ProjectExists):
        await memory.projects.update("/b", by=BY, path="/c")
    with pytest.raises(ProjectExists):
        await memory.projects.create(NewProject("/c/"), by=BY)
    with pytest.raises(UnknownProject, match="/b"):
        await memory.projects.get("/bb")


@pytest.mark.parametrize("path", ["", " ", "work", "/work/../etc", "/a\0b", "./a"])
async def test_a_path_that_is_no_absolute_path_is_refused(memory: Memory, path: str) -> None:
    with pytest.raises(InvalidEntry):
        await memory.projects.create(NewProject(path, name="x"), by=BY)


async def test_all_that_is_wrong_is_said_at_once(memory: Memory) -> None:
    with pytest.raises(InvalidEntry) as refused:
        await memory.projects.create(
            NewProject("work", name=" ", metadata={"bad": float("nan")}), by=BY
        )
    assert [one.path for one in refused.value.problems] == ["/path", "/name", "/metadata"]


async def test_agents_of_a_project_see_its_blocks_and_write_to_them(memory: Memory) -> None:
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna", NewBlock("persona", "I am Anna."))
    bert = await agent(memory, "bert")
    block = await memory.projects.create_block("/a", NewBlock("plan", "Ship it."), by=BY)
    assert (block.type, block.project, block.provenance) == ("project", "/a", "project")
    assert await labels(memory, anna) == ["persona"], "an agent sees nothing before it enters"
    await memory.projects.enter("/a", anna, by=BY)
    await memory.projects.enter("/a", bert, by=BY)
    assert await memory.projects.agents("/a") == (anna, bert)
    assert await labels(memory, anna) == ["persona", "plan"], "its own come first"
    await memory.blocks.append(anna, "plan", "Test it.", by=BY)
    assert (await memory.blocks.read(bert, "plan")).value == "Ship it.\nTest it."
    context = await memory.contexts.assemble(bert)
    assert "Test it." in context.system
    found = await memory.search.find("ship", agent_ids=[bert])
    assert [one.ref for one in found] == [block.id]
    await memory.projects.leave(bert, by=BY)
    assert await labels(memory, bert) == []
    assert "Test it." not in (await memory.contexts.assemble(bert)).system
    assert await memory.search.find("ship", agent_ids=[bert]) == ()
    with pytest.raises(UnknownBlock):
        await memory.blocks.write(bert, "plan", "x", by=BY)


async def test_a_block_that_a_project_gets_later_is_seen_at_once(memory: Memory) -> None:
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna")
    await memory.projects.enter("/a", anna, by=BY)
    await memory.projects.create_block("/a", NewBlock("plan", "Ship it."), by=BY)
    assert await labels(memory, anna) == ["plan"]
    await memory.projects.unlink("/a", "plan", by=BY)
    assert await labels(memory, anna) == []


async def test_a_shared_block_is_one_for_projects_and_agents(memory: Memory) -> None:
    for path in ("/a", "/b"):
        await memory.projects.ensure(path, by=BY)
    anna, bert, cleo = [await agent(memory, name) for name in ("anna", "bert", "cleo")]
    rules = await memory.blocks.create(None, NewBlock("rules", "Be kind.", type="shared"), by=BY)
    await memory.projects.link("/a", rules.id, by=BY)
    await memory.projects.link("/b", rules.id, by=BY, label="house rules")
    await memory.blocks.attach(cleo, rules.id, by=BY)
    await memory.projects.enter("/a", anna, by=BY)
    await memory.projects.enter("/b", bert, by=BY)
    await memory.blocks.write(bert, "house rules", "Be kind and brief.", by=BY)
    assert (await memory.blocks.read(anna, "rules")).value == "Be kind and brief."
    assert (await memory.blocks.read(cleo, "rules")).value == "Be kind and brief."
    assert await memory.projects.with_block(rules.id) == (("/a", "rules"), ("/b", "house rules"))
    await memory.projects.delete("/a", by=BY)
    await memory.projects.unlink("/b", "house rules", by=BY)
    assert (await memory.blocks.get(rules.id)).value == "Be kind and brief.", "a shared one stays"


async def test_under_one_label_the_projects_block_stands_in_place_of_the_agents_own(
    memory: Memory,
) -> None:
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna", NewBlock("project", "Mine."), NewBlock("human", "Ada."))
    await memory.projects.create_block("/a", NewBlock("project", "Ours."), by=BY)
    await memory.projects.enter("/a", anna, by=BY)
    assert [(one.label, one.value) for one in await memory.blocks.list(anna)] == [
        ("human", "Ada."),
        ("project", "Ours."),
    ]
    assert "Mine." not in (await memory.contexts.assemble(anna)).system
    with pytest.raises(BlockOfProject, match="/a"):
        await memory.blocks.delete(anna, "project", by=BY)
    with pytest.raises(BlockOfProject, match="/a"):
        await memory.blocks.detach(anna, "project", by=BY)
    with pytest.raises(BlockExists):
        await memory.blocks.create(anna, NewBlock("project"), by=BY)
    await memory.projects.leave(anna, by=BY)
    assert (await memory.blocks.read(anna, "project")).value == "Mine.", "it was never gone"


async def test_an_agent_works_in_one_project_at_a_time(memory: Memory) -> None:
    for path in ("/a", "/b"):
        await memory.projects.ensure(path, by=BY)
        await memory.projects.create_block(path, NewBlock(f"of {path}"), by=BY)
    anna = await agent(memory, "anna")
    assert await memory.projects.of_agent(anna) is None
    await memory.projects.enter("/a", anna, by=BY)
    last = await memory.events.last()
    await memory.projects.enter("/a", anna, by=BY)
    assert await memory.events.last() == last, "it is there already"
    await memory.projects.enter("/b", anna, by=BY)
    found = await memory.projects.of_agent(anna)
    assert found is not None
    assert found.path == "/b"
    assert await labels(memory, anna) == ["of /b"]
    assert await memory.projects.agents("/a") == ()


async def test_what_a_project_cannot_have_is_refused(memory: Memory) -> None:
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna", NewBlock("mine"))
    mine = await memory.blocks.read(anna, "mine")
    with pytest.raises(NotShareable, match="global"):
        await memory.projects.link("/a", mine.id, by=BY)
    own = await memory.projects.create_block("/a", NewBlock("plan"), by=BY)
    await memory.projects.ensure("/b", by=BY)
    with pytest.raises(NotShareable, match="project"):
        await memory.projects.link("/b", own.id, by=BY)
    with pytest.raises(ProjectHasLabel):
        await memory.projects.create_block("/a", NewBlock("plan"), by=BY)
    with pytest.raises(InvalidEntry, match="skills"):
        await memory.projects.create_block("/a", NewBlock("skills"), by=BY)
    with pytest.raises(UnknownProjectBlock, match="plan"):
        await memory.projects.unlink("/a", "plans", by=BY)
    with pytest.raises(NoSuchBlock):
        await memory.projects.link("/a", "block-99", by=BY)
    with pytest.raises(UnknownAgent):
        await memory.projects.enter("/a", "agent-99", by=BY)
    with pytest.raises(BlockOfProject):
        await memory.blocks.discard(own.id, by=BY)
    # Nothing of what was refused is there.
    assert [block.label for block in await memory.projects.blocks("/a")] == ["plan"]
    assert await memory.projects.blocks("/b") == ()


async def test_a_deleted_project_comes_back_with_all_that_was_its_own(memory: Memory) -> None:
    project = await memory.projects.create(NewProject("/a"), by=BY)
    anna = await agent(memory, "anna")
    await memory.projects.create_block("/a", NewBlock("plan", "Ship it."), by=BY)
    await memory.projects.enter("/a", anna, by=BY)
    before = await memory.events.last()
    await memory.blocks.write(anna, "plan", "Wait.", by=BY)
    await memory.projects.delete("/a", by=BY)
    assert await labels(memory, anna) == []
    assert await memory.blocks.find(label="plan") == ()
    await memory.events.roll_back_project(project.id, before, by=BY)
    assert (await memory.blocks.read(anna, "plan")).value == "Ship it."
    assert await memory.projects.agents("/a") == (anna,)


async def test_an_agent_goes_and_comes_back_where_it_was(memory: Memory) -> None:
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna")
    await memory.projects.create_block("/a", NewBlock("plan", "Ship it."), by=BY)
    await memory.projects.enter("/a", anna, by=BY)
    before = await memory.events.last()
    await memory.agents.delete(anna, by=BY)
    assert await memory.projects.agents("/a") == ()
    assert len(await memory.projects.blocks("/a")) == 1, "an agent takes no block of a project"
    await memory.events.roll_back_agent(anna, before, by=BY)
    assert await labels(memory, anna) == ["plan"]


async def test_a_project_is_no_longer_needed_by_a_block_that_nobody_else_has(
    memory: Memory,
) -> None:
    """A block of a project that an agent holds too outlives the project."""
    await memory.projects.ensure("/a", by=BY)
    anna = await agent(memory, "anna")
    plan = await memory.projects.create_block("/a", NewBlock("plan"), by=BY)
    await memory.blocks.attach(anna, plan.id, by=BY)
    await memory.projects.delete("/a", by=BY)
    assert (await memory.blocks.read(anna, "plan")).id == plan.id
    await memory.blocks.detach(anna, "plan", by=BY)
    with pytest.raises(NoSuchBlock):
        await memory.blocks.get(plan.id)


AGENTS = st.sampled_from(["agent-1", "agent-2"])
PATHS = st.sampled_from(["/a", "/b"])
LABELS = st.sampled_from(["x", "y"])
STEP = st.one_of(
    st.tuples(st.just("enter"), PATHS, AGENTS),
    st.tuples(st.just("leave"), AGENTS),
    st.tuples(st.just("make"), PATHS, LABELS),
    st.tuples(st.just("unlink"), PATHS, LABELS),
    st.tuples(st.just("own"), AGENTS, LABELS),
    st.tuples(st.just("detach"), AGENTS, LABELS),
    st.tuples(st.just("delete"), PATHS),
)


async def _take(memory: Memory, step: tuple[str, ...]) -> None:
    kind, *rest = step
    if kind == "enter":
        await memory.projects.enter(rest[0], rest[1], by=BY)
    elif kind == "leave":
        await memory.projects.leave(rest[0], by=BY)
    elif kind == "make":
        await memory.projects.ensure(rest[0], by=BY)
        await memory.projects.create_block(rest[0], NewBlock(rest[1], rest[0]), by=BY)
    elif kind == "unlink":
        await memory.projects.unlink(rest[0], rest[1], by=BY)
    elif kind == "own":
        await memory.blocks.create(rest[0], NewBlock(rest[1], rest[0]), by=BY)
    elif kind == "detach":
        await memory.blocks.detach(rest[0], rest[1], by=BY)
    else:
        await memory.projects.delete(rest[0], by=BY)


async def _seen(memory: Memory) -> dict[str, list[tuple[str, str]]]:
    return {
        name: [(one.label, one.value) for one in await memory.blocks.list(name)]
        for name in ("agent-1", "agent-2")
    }


async def _expected(memory: Memory, own: dict[str, dict[str, str]]) -> None:
    """What an agent sees is its own blocks with those of its project over them."""
    for name, held in own.items():
        project = await memory.projects.of_agent(name)
        theirs = () if project is None else await memory.projects.blocks(project.path)
        wanted = held | {one.label: one.value for one in theirs}
        assert dict((await _seen(memory))[name]) == wanted


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEP, max_size=14), st.integers(0, 13))
def test_an_agent_sees_its_own_blocks_and_over_them_its_projects(
    steps: list[tuple[str, ...]], moment: int
) -> None:
    """After any steps; and whatever a rollback of projects does, the file agrees with itself."""

    async def run(folder: str) -> None:
        source = Source(Path(folder) / "m.db")
        async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
            for name in ("anna", "bert"):
                await agent(memory, name)
            for path in ("/a", "/b"):
                await memory.projects.ensure(path, by=BY)
            for step in steps:
                with suppress(MemoryProblem):
                    await _take(memory, step)
                own = {}
                for name in ("agent-1", "agent-2"):
                    rows = await memory.ledger.read(
                        lambda connection, name=name: connection.execute(
                            "SELECT h.label, b.value FROM block_holders h JOIN blocks b"
                            " ON b.id = h.block_id WHERE h.agent_id = ?",
                            (name,),
                        ).fetchall()
                    )
                    own[name] = {row["label"]: row["value"] for row in rows}
                await _expected(memory, own)
            assert await memory.check() == ()
            projects = await memory.projects.list()
            for project in projects:
                with suppress(MemoryProblem):
                    await memory.events.roll_back_project(project.id, 8 + moment, by=BY)
                assert await memory.check() == ()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(folder))


async def test_a_consolidation_of_an_agent_leaves_its_projects_blocks_alone(
    memory: Memory,
) -> None:
    from dcf.memory.blocks.finding import block_row
    from dcf.memory.consolidation.snapshot import untouched

    await memory.projects.ensure("/a", by=BY)
    plan = await memory.projects.create_block("/a", NewBlock("plan"), by=BY)
    reason = await memory.ledger.read(
        lambda connection: untouched(connection, block_row(connection, plan.id))
    )
    assert reason == "it is a project's block"
