"""Agents: made with their blocks, found by id, name and tag, changed by revision, removed."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any

import pytest

from dcf.memory import (
    Actor,
    AgentExists,
    AgentFields,
    BlockFields,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    RevisionConflict,
    UnknownAgent,
    UnknownBlock,
    UnusableValue,
)

# The table of section 2.2 of the plan: label, type, limit in bytes, read-only.
PLAN = [
    ("persona", "global", 8000, False),
    ("human", "global", 4000, False),
    ("project", "project", 16000, False),
    ("skills", "project", 32000, True),
    ("loaded_skills", "project", 32000, True),
    ("style", "project", 2000, False),
]


async def test_a_new_agent_has_the_default_blocks_of_the_plan(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    blocks = await memory.blocks.list(agent.id)
    assert [(one.label, one.type, one.hard_limit, one.read_only) for one in blocks] == PLAN
    assert all(one.description and one.value == "" for one in blocks)


async def test_a_new_agent_has_the_settings_of_the_plan(memory: Memory, by: Actor) -> None:
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    assert (agent.context_window, agent.parallel_tool_calls, agent.enable_sleeptime) == (
        200_000,
        True,
        False,
    )
    assert (agent.revision, agent.created_at) == (1, agent.updated_at)


async def test_an_agent_is_kept_field_by_field(memory: Memory, by: Actor) -> None:
    new = NewAgent(
        name="Ünïcode ☃",
        description="d",
        role="worker",
        model="openai:gpt",
        embedder="none",
        system="You are.\n",
        context_window=4000,
        parallel_tool_calls=False,
        enable_sleeptime=True,
        lifecycle="pooled",
        template="t",
        template_digest="abc",
        tags=("b", "a", "b"),
        metadata={"k": [1, None]},
        extra={"letta": {"x": "ö"}},
    )
    made = await memory.agents.create(new, by=by, blocks=[])
    kept = await memory.agents.get(made.id)
    assert kept == made
    assert kept.tags == ("a", "b")
    assert {name: getattr(kept, name) for name in new.__slots__ if name != "tags"} == {
        name: getattr(new, name) for name in new.__slots__ if name != "tags"
    }


async def test_given_blocks_take_the_place_of_the_default_ones(memory: Memory, by: Actor) -> None:
    blocks = [NewBlock("notes", "n"), NewBlock("persona", "p")]
    agent = await memory.agents.create(NewAgent("anna"), by=by, blocks=blocks)
    held = await memory.blocks.list(agent.id)
    assert [(one.label, one.value) for one in held] == [("notes", "n"), ("persona", "p")]


async def test_an_agent_with_one_bad_block_is_not_made_at_all(memory: Memory, by: Actor) -> None:
    with pytest.raises(InvalidEntry):
        await memory.agents.create(
            NewAgent("anna"), by=by, blocks=[NewBlock("good"), NewBlock("bad", "\0")]
        )
    assert await memory.agents.list() == ()
    assert await memory.events.list() == ()


async def test_all_that_is_wrong_with_an_agent_is_said_at_once(memory: Memory, by: Actor) -> None:
    wrong: Any = {"lifecycle": "eternal"}
    new = NewAgent(" ", system="\ud800", context_window=0, metadata={"x": {1, 2}}, **wrong)
    with pytest.raises(InvalidEntry) as refused:
        await memory.agents.create(new, by=by)
    assert [problem.path for problem in refused.value.problems] == [
        "/name",
        "/system",
        "/metadata",
        "/context_window",
        "/lifecycle",
    ]


async def test_two_agents_cannot_have_one_name(memory: Memory, by: Actor) -> None:
    await memory.agents.create(NewAgent("anna"), by=by)
    with pytest.raises(AgentExists, match="anna"):
        await memory.agents.create(NewAgent("anna"), by=by)
    other = await memory.agents.create(NewAgent("bert"), by=by)
    with pytest.raises(AgentExists, match="anna"):
        await memory.agents.update(other.id, by=by, name="anna")


async def test_an_agent_is_found_by_its_name(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna"), by=by)
    assert await memory.agents.find("anna") == made


async def test_an_unknown_name_is_answered_with_the_closest_ones(memory: Memory, by: Actor) -> None:
    for name in ("planner", "planner-2", "worker"):
        await memory.agents.create(NewAgent(name), by=by, blocks=[])
    with pytest.raises(UnknownAgent) as unknown:
        await memory.agents.find("plnner")
    assert unknown.value.closest == ("planner", "planner-2")
    assert "planner" in str(unknown.value)
    with pytest.raises(UnknownAgent):
        await memory.agents.get("agent-99")


async def test_agents_are_listed_by_all_or_any_of_their_tags(memory: Memory, by: Actor) -> None:
    for name, tags in (("a", ("x",)), ("b", ("x", "y")), ("c", ("y",)), ("d", ())):
        await memory.agents.create(NewAgent(name, tags=tags), by=by, blocks=[])

    async def named(**query: Any) -> str:
        return "".join(agent.name for agent in await memory.agents.list(**query))

    assert await named() == "abcd"
    assert await named(tags=["x", "y"]) == "b"
    assert await named(tags=["x", "y", "x"], match="any") == "abc"
    assert await named(tags=["z"]) == ""


async def test_a_list_is_read_page_by_page(memory: Memory, by: Actor) -> None:
    for number in range(7):
        await memory.agents.create(NewAgent(f"a{number}", tags=("t",)), by=by, blocks=[])
    pages, after = [], ""
    while page := await memory.agents.list(tags=["t"], limit=3, after=after):
        pages.append([agent.name for agent in page])
        after = page[-1].name
    assert pages == [["a0", "a1", "a2"], ["a3", "a4", "a5"], ["a6"]]


async def test_an_update_counts_the_revision_and_is_kept(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna", tags=("x",)), by=by)
    changed = await memory.agents.update(made.id, by=by, expected=1, name="berta", tags=("y",))
    assert (changed.name, changed.tags, changed.revision) == ("berta", ("y",), 2)
    assert changed.updated_at > made.updated_at
    assert await memory.agents.get(made.id) == changed
    assert await memory.agents.list(tags=["x"]) == ()
    assert await memory.agents.list(tags=["y"]) == (changed,)


async def test_an_update_to_what_is_already_so_is_no_change(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna", role="r"), by=by)
    before = await memory.events.last()
    assert await memory.agents.update(made.id, by=by, role="r") == made
    assert await memory.events.last() == before


async def test_an_update_of_another_revision_is_refused(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna"), by=by)
    await memory.agents.update(made.id, by=by, role="one")
    with pytest.raises(RevisionConflict) as conflict:
        await memory.agents.update(made.id, by=by, expected=1, role="two")
    assert conflict.value.fields["expected"] == 1
    assert conflict.value.fields["found"] == 2
    assert (await memory.agents.get(made.id)).role == "one"


async def test_an_unknown_field_is_refused(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna"), by=by)
    wrong: Any = {"colour": "red"}
    with pytest.raises(InvalidEntry, match="no field colour"):
        await memory.agents.update(made.id, by=by, **wrong)


async def test_tags_added_at_the_same_time_are_all_kept(memory: Memory, by: Actor) -> None:
    made = await memory.agents.create(NewAgent("anna", tags=("old",)), by=by)
    await asyncio.gather(
        *(memory.agents.tag(made.id, by=by, add=[f"t{number}"]) for number in range(5)),
        memory.agents.tag(made.id, by=by, remove=["old", "never there"]),
    )
    assert (await memory.agents.get(made.id)).tags == ("t0", "t1", "t2", "t3", "t4")


async def test_a_deleted_agent_takes_its_own_blocks_with_it(memory: Memory, by: Actor) -> None:
    anna = await memory.agents.create(NewAgent("anna"), by=by)
    bert = await memory.agents.create(NewAgent("bert"), by=by, blocks=[])
    own = await memory.blocks.read(anna.id, "human")
    held = await memory.blocks.read(anna.id, "persona")
    await memory.blocks.attach(bert.id, held.id, by=by)
    shared = await memory.blocks.create(anna.id, NewBlock("team", type="shared"), by=by)
    await memory.agents.delete(anna.id, by=by)
    with pytest.raises(UnknownAgent):
        await memory.agents.get(anna.id)
    with pytest.raises(UnknownAgent):
        await memory.blocks.list(anna.id)
    with pytest.raises(Exception, match=own.id):
        await memory.blocks.get(own.id)
    assert (await memory.blocks.read(bert.id, "persona")).id == held.id
    assert await memory.blocks.get(shared.id) == shared


async def test_a_deleted_agent_comes_back_whole(memory: Memory, by: Actor) -> None:
    anna = await memory.agents.create(NewAgent("anna", tags=("x",)), by=by)
    await memory.blocks.write(anna.id, "human", "likes tea", by=by)
    blocks = await memory.blocks.list(anna.id)
    before = await memory.events.last()
    await memory.agents.delete(anna.id, by=by)
    await memory.events.roll_back_agent(anna.id, before, by=by)
    assert (await memory.agents.find("anna")).id == anna.id
    assert await memory.agents.list(tags=["x"]) == (await memory.agents.get(anna.id),)
    restored = await memory.blocks.list(anna.id)
    assert [(one.id, one.label, one.value) for one in restored] == [
        (one.id, one.label, one.value) for one in blocks
    ]


async def test_nothing_can_be_done_with_an_agent_that_is_not_there(
    memory: Memory, by: Actor
) -> None:
    for call in (
        memory.agents.update("nobody", by=by, role="r"),
        memory.agents.tag("nobody", by=by, add=["t"]),
        memory.agents.delete("nobody", by=by),
        memory.blocks.create("nobody", NewBlock("b"), by=by),
        memory.blocks.read("nobody", "persona"),
    ):
        with pytest.raises(UnknownAgent):
            await call
    agent = await memory.agents.create(NewAgent("anna"), by=by)
    with pytest.raises(UnknownBlock, match="persona"):
        await memory.blocks.read(agent.id, "persna")


async def test_an_id_that_is_given_names_one_agent(memory: Memory, by: Actor) -> None:
    await memory.agents.create(NewAgent("anna"), by=by, agent_id="mine")
    with pytest.raises(InvalidEntry, match="is another agent's"):
        await memory.agents.create(NewAgent("bert"), by=by, agent_id="mine")
    for wrong in ("", "a/b", "\ud800"):
        with pytest.raises(InvalidEntry, match="id"):
            await memory.agents.create(NewAgent("bert"), by=by, agent_id=wrong)


async def test_what_no_file_can_have_is_refused_wherever_it_is_given(
    memory: Memory, by: Actor
) -> None:
    anna = await memory.agents.create(NewAgent("anna"), by=by)
    half, large = "a\ud800", 1 << 64
    for refused in (
        memory.agents.get(half),
        memory.agents.find(half),
        memory.agents.list(tags=[half]),
        memory.blocks.read(anna.id, half),
        memory.blocks.append(anna.id, "human", "x", by=Actor("user", half)),
        memory.agents.update(anna.id, by=by, context_window=large),
        memory.messages.get(anna.id, large),
        memory.events.roll_back_agent(anna.id, large, by=by),
    ):
        with pytest.raises(UnusableValue, match=r"half a surrogate pair at character 1|too large"):
            await refused
    assert (await memory.agents.get(anna.id)).revision == 1


def test_what_can_be_changed_of_an_agent_or_a_block_is_what_it_is_made_with() -> None:
    assert set(AgentFields.__annotations__) == {one.name for one in fields(NewAgent)}
    of_block = {one.name for one in fields(NewBlock)}
    assert set(BlockFields.__annotations__) == of_block - {"label", "value", "provenance"}


async def test_a_name_that_nobody_has_is_none_or_an_error_with_those_that_begin_alike(
    memory: Memory, by: Actor
) -> None:
    for number in range(150):
        await memory.agents.create(NewAgent(f"a{number}"), by=by, blocks=[])
    zoe = await memory.agents.create(NewAgent("zoe-1"), by=by, blocks=[])
    assert await memory.agents.named("zoe-1") == zoe
    assert await memory.agents.named("zoe-2") is None
    with pytest.raises(UnknownAgent, match="Close to it: zoe-1"):
        await memory.agents.find("zoe-2")
