"""Agents of a file come into a memory whole, and go out of it as they came."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agent_file_samples import SECRETS, gardener, shop

from dcf.agents.files import (
    AgentFile,
    export_agents,
    import_agents,
    read_agent_file,
    write_agent_file,
)
from dcf.memory import (
    Actor,
    AgentExists,
    InvalidEntry,
    Memory,
    NewAgent,
    NewBlock,
    NewMessage,
    NewProject,
    Source,
    random_id,
)

BY = Actor("user", "ada")
SAMPLES = Path(__file__).parents[4] / "shared" / "samples" / "agent-files"


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    clock = iter(range(1_700_000_000_000, 1_800_000_000_000)).__next__
    async with Memory.open(Source(tmp_path / "m.db"), clock=clock, new_id=random_id) as opened:
        yield opened
        assert await opened.check() == ()


def read(value: Any) -> AgentFile:
    return read_agent_file(json.dumps(value))


def told(file: AgentFile) -> dict[str, Any]:
    """What a file says, whatever the order of its blocks and tools."""
    written = write_agent_file(file)
    for kind in ("blocks", "tools"):
        written[kind] = sorted(written[kind], key=lambda one: one["id"])
    return written


async def test_an_agent_comes_in_with_its_blocks_under_new_ids(memory: Memory) -> None:
    (agent,) = await import_agents(memory, read(gardener()), by=BY)
    assert agent.name == "gardener"
    blocks = await memory.blocks.list(agent.id)
    assert [(block.label, block.value, block.provenance) for block in blocks] == [
        ("persona", "Patient.", "imported"),
        ("beds", "Beans, peas and onions.", "imported"),
    ]
    events = [event.by.name for event in await memory.events.list(agent_id=agent.id)]
    assert set(events) == {"ada"}


async def test_a_shared_block_is_one_block(memory: Memory) -> None:
    clerk, owner = await import_agents(memory, read(shop()), by=BY)
    await memory.blocks.write(owner.id, "prices", "Tea 4", by=BY)
    assert (await memory.blocks.read(clerk.id, "prices")).value == "Tea 4"


async def test_what_came_in_goes_out_as_it_was(memory: Memory) -> None:
    file = read(shop())
    agents = await import_agents(memory, file, by=BY)
    out = await export_agents(memory, [agent.id for agent in agents])
    assert told(out) == told(file)


async def test_it_goes_through_two_memories_unchanged(memory: Memory) -> None:
    first = await import_agents(memory, read(shop()), by=BY)
    out = await export_agents(memory, [agent.id for agent in first])
    second = await import_agents(memory, read(write_agent_file(out)), by=BY)
    again = await export_agents(memory, [agent.id for agent in second])
    assert [agent.new.name for agent in again.agents] == ["clerk-2", "owner-2"]
    same = tuple(
        replace(agent, new=replace(agent.new, name=before.new.name))
        for agent, before in zip(again.agents, out.agents, strict=True)
    )
    assert told(replace(again, agents=same)) == told(out)


async def test_what_was_changed_meanwhile_is_what_goes_out(memory: Memory) -> None:
    clerk, _ = await import_agents(memory, read(shop()), by=BY)
    await memory.agents.update(clerk.id, by=BY, model="openai:gpt-5", context_window=7000)
    await memory.blocks.write(clerk.id, "prices", "Tea 5", by=BY)
    out = write_agent_file(await export_agents(memory, [clerk.id]))
    config = out["agents"][0]["llm_config"]
    assert (config["handle"], config["model"], config["context_window"]) == (
        "openai/gpt-5",
        "gpt-5",
        7000,
    )
    assert [block["value"] for block in out["blocks"] if block["label"] == "prices"] == ["Tea 5"]
    assert read(out).agents[0].new.model == "openai:gpt-5"


async def test_agents_of_several_files_stand_in_one_under_ids_of_their_own(memory: Memory) -> None:
    ids = [
        agent.id
        for value in (shop(), gardener(), shop())
        for agent in await import_agents(memory, read(value), by=BY)
    ]
    file = await export_agents(memory, ids)
    assert read(write_agent_file(file)) == file
    assert len(file.blocks) == 2 + 2 + 2
    # The two shops have the same tools, which stand in the file once.
    assert sorted(tool.name for tool in file.tools) == [
        "conversation_search",
        "measure",
        "memory_insert",
        "sell",
    ]
    assert len({thing.id for thing in (*file.agents, *file.blocks, *file.tools)}) == 5 + 6 + 4


async def test_an_agent_that_was_made_here_goes_out_and_comes_back(memory: Memory) -> None:
    new = NewAgent("scout", role="worker", lifecycle="pooled", template="worker", tags=("a",))
    block = NewBlock("plan", "go", soft_limit=5, hard_limit=9, on_limit="truncate", type="shared")
    scout = await memory.agents.create(new, by=BY, blocks=[block])
    file = read(write_agent_file(await export_agents(memory, [scout.id])))
    assert file.agents[0].new == new
    assert file.blocks[0].new == replace(block, provenance="imported")


async def test_a_name_that_is_taken_gets_a_number_or_is_refused_with_all(memory: Memory) -> None:
    await import_agents(memory, read(gardener()), by=BY)
    (second,) = await import_agents(memory, read(gardener()), by=BY)
    (third,) = await import_agents(memory, read(gardener()), by=BY)
    assert (second.name, third.name) == ("gardener-2", "gardener-3")
    value = shop()
    value["agents"][1]["name"] = "gardener"
    with pytest.raises(AgentExists):
        await import_agents(memory, read(value), by=BY, on_name_taken="refuse")
    assert [agent.name for agent in await memory.agents.list()] == [
        "gardener",
        "gardener-2",
        "gardener-3",
    ]


async def test_a_file_that_cannot_be_kept_leaves_nothing(memory: Memory) -> None:
    file = read(shop())
    broken = replace(file.agents[1], new=replace(file.agents[1].new, context_window=0))
    with pytest.raises(InvalidEntry):
        await import_agents(memory, replace(file, agents=(file.agents[0], broken)), by=BY)
    assert await memory.agents.list() == ()


async def test_the_memory_never_has_the_value_of_a_secret(memory: Memory, tmp_path: Path) -> None:
    for value in (shop(), gardener()):
        await import_agents(memory, read(value), by=BY)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Beans, peas" in kept
    assert [secret for secret in SECRETS if secret.encode() in kept] == []


async def test_a_conversation_comes_in_with_its_times_and_what_was_out_of_context(
    memory: Memory,
) -> None:
    (agent,) = await import_agents(memory, read(gardener()), by=BY)
    messages = await memory.messages.list(agent.id)
    assert [(m.role, m.content, m.archived_at is None) for m in messages] == [
        # The prompt of the program before: here each turn begins with a prompt of its own.
        ("system", "Look after the garden.", False),
        ("user", "Is it dry?", False),
        ("assistant", "I look.", True),
        ("tool", "dry", True),
    ]
    assert messages[1].created_at == 1743479280000  # 2025-04-01T03:48:00Z
    assert messages[2].parts[0]["arguments"] == {"bed": 1}


async def test_a_time_that_was_not_set_is_not_taken_over(memory: Memory) -> None:
    file = gardener()
    message = next(one for one in file["messages"] if one["content"] == "Is it dry?")
    message["created_at"] = "0001-01-01T00:00:00Z"
    (agent,) = await import_agents(memory, read(file), by=BY)
    messages = await memory.messages.list(agent.id)
    assert messages[1].created_at == agent.created_at


async def test_what_was_said_here_goes_out_after_what_came_in(memory: Memory) -> None:
    (agent,) = await import_agents(memory, read(gardener()), by=BY)
    await memory.messages.append(agent.id, NewMessage("user", "Water it."), by=BY)
    file = read(write_agent_file(await export_agents(memory, [agent.id])))
    before = read(gardener()).agents[0].messages
    assert file.agents[0].messages[:4] == before
    assert file.agents[0].messages[4].new == NewMessage("user", "Water it.")
    (again,) = await import_agents(memory, file, by=BY)
    assert (await memory.messages.list(again.id))[4].content == "Water it."


async def test_a_summary_goes_out_and_comes_back_as_one(memory: Memory) -> None:
    agent = await memory.agents.create(NewAgent("talker"), by=BY, blocks=())
    said = [NewMessage("user", "one"), NewMessage("assistant", "two")]
    await memory.messages.append(agent.id, *said, by=BY)
    summary = NewMessage("summary", "counted", replaces=(1, 2))
    await memory.messages.append(agent.id, summary, by=BY)
    file = read(write_agent_file(await export_agents(memory, [agent.id])))
    assert [message.new for message in file.agents[0].messages] == [*said, summary]
    (again,) = await import_agents(memory, file, by=BY)
    assert (await memory.messages.list(again.id))[2].replaces == (1, 2)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the public samples are not here")
async def test_files_of_the_public_repositories_go_in_and_out(memory: Memory) -> None:
    ids = []
    for path in sorted(SAMPLES.glob("*.af")):
        file = read_agent_file(path.read_bytes())
        agents = await import_agents(memory, file, by=BY)
        ids += [agent.id for agent in agents]
        out = await export_agents(memory, [agent.id for agent in agents])
        names = tuple(
            replace(agent, new=replace(agent.new, name=before.new.name))
            for agent, before in zip(out.agents, file.agents, strict=True)
        )
        before = told(file)
        # Version 1 has no time of the file itself.
        before["created_at"] = before["created_at"] or out.extra["created_at"]
        assert told(replace(out, agents=names)) == before, path.name
    whole = await export_agents(memory, ids)
    assert read(write_agent_file(whole)) == whole


async def test_metadata_of_any_name_goes_out_as_it_came(memory: Memory) -> None:
    file = read(shop() | {"blocks": [{**one, "metadata": {"file": 5}} for one in shop()["blocks"]]})
    agents = await import_agents(memory, file, by=BY)
    again = await export_agents(memory, [agent.id for agent in agents])
    assert [block.new.metadata for block in again.blocks] == [{"file": 5}] * len(file.blocks)


async def test_what_somebody_else_wrote_where_a_file_is_kept_is_no_obstacle(
    memory: Memory,
) -> None:
    blocks = [NewBlock("human", metadata={"dcf": 7})]
    agent = await memory.agents.create(NewAgent("a", extra={"file": "x"}), by=BY, blocks=blocks)
    (out,) = (await export_agents(memory, [agent.id])).agents
    assert out.new.name == "a"


async def test_an_agent_in_a_project_leaves_with_its_own_blocks_and_none_of_the_projects(
    memory: Memory,
) -> None:
    own = [NewBlock("human", "Likes tea."), NewBlock("notes", "my own")]
    agent = await memory.agents.create(NewAgent("ada"), by=BY, blocks=own)
    outside = told(await export_agents(memory, [agent.id]))
    await memory.projects.create(NewProject("/shop"), by=BY)
    for label in ("notes", "plan"):
        await memory.projects.create_block("/shop", NewBlock(label, "of the shop"), by=BY)
    await memory.projects.enter("/shop", agent.id, by=BY)
    file = await export_agents(memory, [agent.id])
    assert {block.new.label: block.new.value for block in file.blocks} == {
        "human": "Likes tea.",
        "notes": "my own",
    }
    inside = told(file)
    assert {**inside, "created_at": 0} == {**outside, "created_at": 0}
