"""Agents that move between a memory and a Letta server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from letta_world import LettaWorld, letta_server
from memory_world import Numbered, Ticking
from runtime_world import Says

from dcf.agents.letta import export_to_letta, import_from_letta
from dcf.memory import (
    Actor,
    AgentExists,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewPassage,
    Source,
    UnknownAgent,
)


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    source = Source(tmp_path / "own.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as opened:
        yield opened
        assert await opened.check() == ()


async def test_agents_of_a_server_come_into_the_memory_with_all_that_is_theirs(
    world: LettaWorld, memory: Memory, by: Actor
) -> None:
    runtime = world.runtime
    shared = await runtime.create_block(NewBlock("team", "plan A", type="shared"), by=by)
    for name in ("one", "two"):
        new = NewAgent(name, description=f"The {name}.", role="scout", tags=("crew",))
        agent = await runtime.create(new, [NewBlock("notes", f"of {name}", hard_limit=99)], by=by)
        await runtime.attach_block(agent.id, shared.id, by=by)
        await runtime.insert_passage(agent.id, NewPassage(f"seen by {name}", ("x",), 0.9), by=by)
    world.script(Says("Hello."))
    await runtime.send(agent.id, "Good morning.")
    await runtime.create(NewAgent("stranger"), [], by=by)

    moved = await import_from_letta(memory, letta_server(), by=by, tags=["crew"])
    assert [one.name for one in moved.agents] == ["one", "two"]
    assert [one.role for one in moved.agents] == ["scout", "scout"]
    assert moved.passages == 2
    teams = [await memory.blocks.read(one.id, "team") for one in moved.agents]
    assert teams[0].id == teams[1].id, "what was shared is shared"
    assert (teams[0].value, teams[0].type) == ("plan A", "shared")
    notes = await memory.blocks.read(moved.agents[0].id, "notes")
    assert (notes.value, notes.hard_limit) == ("of one", 99)
    assert "dcf_block" not in notes.metadata
    (passage,) = await memory.passages.list(moved.agents[1].id)
    assert (passage.text, passage.tags, passage.salience) == ("seen by two", ("x",), 0.9)
    said = [
        (one.role, one.content)
        for one in await memory.messages.list(moved.agents[1].id)
        if one.role in ("user", "assistant")
    ]
    assert said == [("user", "Good morning."), ("assistant", "Hello.")]
    assert len(await runtime.list()) == 3, "nothing on the server is removed"


async def test_agents_are_chosen_by_name(world: LettaWorld, memory: Memory, by: Actor) -> None:
    for name in ("one", "two"):
        await world.runtime.create(NewAgent(name), [], by=by)
    moved = await import_from_letta(memory, letta_server(), by=by, names=["two"])
    assert [one.name for one in moved.agents] == ["two"]
    again = await import_from_letta(memory, letta_server(), by=by, names=["two"])
    assert [one.name for one in again.agents] == ["two-2"]
    with pytest.raises(AgentExists):
        await import_from_letta(
            memory, letta_server(), by=by, names=["two"], on_name_taken="refuse"
        )
    with pytest.raises(UnknownAgent, match="two"):
        await import_from_letta(memory, letta_server(), by=by, names=["twoo"])


async def test_an_agent_comes_without_the_sleep_time_agent_that_the_server_gave_it(
    world: LettaWorld, memory: Memory, by: Actor
) -> None:
    client = await world.runtime.connection.client()
    server = letta_server()
    theirs = await client.agents.create(
        name="dreamer",
        agent_type="letta_v1_agent",
        model=server.model,
        embedding=server.embedding,
        memory_blocks=[{"label": "human", "value": "Ada"}],
        enable_sleeptime=True,
    )
    assert len(await world.runtime.list()) == 2, "the server made a second one"
    await world.runtime.insert_passage(theirs.id, NewPassage("the harbour"), by=by)

    moved = await import_from_letta(memory, server, by=by, names=["dreamer"])
    (dreamer,) = moved.agents
    assert (dreamer.name, moved.passages) == ("dreamer", 1)
    assert (await memory.blocks.read(dreamer.id, "human")).value == "Ada"
    assert [one.text for one in await memory.passages.list(dreamer.id)] == ["the harbour"]
    assert [one.name for one in await memory.agents.list()] == ["dreamer"]
    everybody = await import_from_letta(memory, server, by=by)
    assert len(everybody.agents) == 2 and everybody.passages == 1


async def test_agents_of_the_memory_go_to_a_server_and_work_there(
    world: LettaWorld, memory: Memory, by: Actor
) -> None:
    new = NewAgent("wf:1/scout", description="Looks.", system="Be brief.", tags=("x",), role="eye")
    blocks = [NewBlock("notes", "quinces", soft_limit=50, hard_limit=80), NewBlock("rules")]
    agent = await memory.agents.create(new, by=by, blocks=blocks)
    other = await memory.agents.create(NewAgent("other"), by=by, blocks=[])
    shared = await memory.blocks.create(None, NewBlock("team", "plan A", type="shared"), by=by)
    for one in (agent, other):
        await memory.blocks.attach(one.id, shared.id, by=by)
    await memory.messages.append(agent.id, NewMessage("user", "I am Ada."), by=by)
    await memory.messages.append(agent.id, NewMessage("assistant", "Hello Ada."), by=by)
    await memory.passages.insert(agent.id, NewPassage("the harbour", ("town",), 0.7), by=by)

    moved = await export_to_letta(memory, letta_server(), [agent.id, other.id])
    there, friend = moved.agents
    assert (there.name, there.role, there.system) == ("wf:1/scout", "eye", "Be brief.")
    assert there.tags == ("x",) and moved.passages == 1
    held = {block.label: block for block in await world.runtime.blocks(there.id)}
    assert held.keys() == {"notes", "rules", "team"}
    assert (held["notes"].value, held["notes"].soft_limit) == ("quinces", 50)
    assert held["team"].id == (await world.runtime.block(friend.id, "team")).id
    (passage,) = await world.runtime.passages(there.id)
    assert (passage.text, passage.tags, passage.salience) == ("the harbour", ("town",), 0.7)
    world.script(Says("You are Ada."))
    await world.runtime.send(there.id, "Who am I?")
    prompt = world.prompts()[-1]
    assert "Be brief." in prompt and "quinces" in prompt and "I am Ada." in prompt

    with pytest.raises(AgentExists, match="wf:1/scout"):
        await export_to_letta(memory, letta_server(), [agent.id])
    (second,) = (
        await export_to_letta(memory, letta_server(), [agent.id], on_name_taken="suffix")
    ).agents
    assert second.name == "wf:1/scout-2"


async def test_an_agent_that_goes_and_comes_back_is_the_same(
    world: LettaWorld, memory: Memory, by: Actor
) -> None:
    new = NewAgent("scout", description="Looks.", role="eye", template="planner", tags=("x", "y"))
    agent = await memory.agents.create(new, by=by)
    await memory.messages.append(agent.id, NewMessage("user", "I am Ada."), by=by)
    before = await memory.blocks.list(agent.id)
    await export_to_letta(memory, letta_server(), [agent.id])
    (back,) = (await import_from_letta(memory, letta_server(), by=by)).agents
    for name in ("description", "role", "template", "tags", "lifecycle", "system"):
        assert getattr(back, name) == getattr(agent, name), name
    after = await memory.blocks.list(back.id)
    kept = ("label", "value", "description", "type", "soft_limit", "hard_limit", "read_only")
    assert {tuple(getattr(one, name) for name in kept) for one in after} == {
        tuple(getattr(one, name) for name in kept) for one in before
    }
    messages = await memory.messages.list(back.id)
    assert [one.content for one in messages if one.role == "user"] == ["I am Ada."]
