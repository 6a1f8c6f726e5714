"""What happens when a conversation outgrows its agent's window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_world import LocalWorld, local_world
from runtime_world import Calls, Says, Uses

from dcf.agents import TaskError, ToolSpec
from dcf.agents.local.extract import extract
from dcf.memory import Actor, Message, NewAgent, NewBlock, NewMessage
from dcf.search import count_tokens

BY = Actor("user", "ada")
WORDS = "the wind is fair and all is well on board today "


async def an_agent(world: LocalWorld, *blocks: NewBlock) -> str:
    agent = await world.runtime.create(NewAgent("mate", context_window=2500), blocks, by=BY)
    await world.runtime.attach_tools(agent.id, [ToolSpec("log")], by=BY)
    return agent.id


async def test_a_turn_of_many_steps_summarises_its_own_beginning(tmp_path: Path) -> None:
    async with local_world(tmp_path, summaries="rule") as world:
        agent_id = await an_agent(world)
        world.script(*[Calls("log")] * 20, Says("Read."))
        use = Uses(log=WORDS * 15)
        await world.runtime.send(agent_id, "Read QUESTION the whole log.", use=use)
        made = [one for one in await world.runtime.messages(agent_id) if one.role == "summary"]
        assert made and all(one.replaces and one.replaces[0] > 1 for one in made)
        assert "QUESTION" in world.prompts()[-1], "what is being answered stays in view"


async def test_a_large_answer_of_a_tool_goes_into_the_archive(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        agent_id = await an_agent(world)
        whole = f"{WORDS * 500} The treasure lies at pier 41."
        world.script(
            Calls("log"),
            Calls("archival_memory_search", {"query": "treasure", "top_k": 1}),
            Says("I have it."),
        )
        await world.runtime.send(agent_id, "Read the log.", use=Uses(log=whole))
        (passage,) = [one for one in await world.runtime.passages(agent_id) if "log" in one.tags]
        assert passage.text == whole
        assert passage.id in world.prompts()[1]
        assert "pier 41" in world.prompts()[2], "search shows the part that was looked for"


async def test_a_question_larger_than_the_window_fails_and_is_kept(tmp_path: Path) -> None:
    async with local_world(tmp_path, summaries="rule") as world:
        agent_id = await an_agent(world)
        with pytest.raises(TaskError, match="what cannot be summarised takes more") as raised:
            await world.runtime.send(agent_id, WORDS * 500)
        assert raised.value.error == "DCF.ContextOverflow"
        (kept,) = await world.runtime.messages(agent_id)
        assert kept.content == WORDS * 500
        world.script(Says("Shorter, please."))
        assert (await world.runtime.send(agent_id, "Hello?")).text == "Shorter, please."


async def test_blocks_larger_than_the_window_fail_with_the_way_out(tmp_path: Path) -> None:
    async with local_world(tmp_path) as world:
        agent_id = await an_agent(world, NewBlock("notes", WORDS * 500))
        with pytest.raises(TaskError, match="shorten blocks") as raised:
            await world.runtime.send(agent_id, "Hello?")
        assert raised.value.error == "DCF.ContextOverflow"


async def test_a_long_conversation_that_was_imported_is_summarised_whole(tmp_path: Path) -> None:
    async with local_world(tmp_path, summaries="rule") as world:
        agent_id = await an_agent(world)
        old = [NewMessage("user", f"{number}: {WORDS * 9}") for number in range(300)]
        await world.memory.messages.append(agent_id, *old, by=BY)
        world.script(Says("Well."))
        await world.runtime.send(agent_id, "How are you?")
        made = [one for one in await world.runtime.messages(agent_id) if one.role == "summary"]
        assert made[0].replaces is not None and made[0].replaces[0] == 1


async def test_a_summary_by_the_model_that_fails_is_made_by_rule(tmp_path: Path) -> None:
    async with local_world(tmp_path, summaries="model") as world:
        agent_id = await an_agent(world)
        old = [NewMessage("user", f"{number}: {WORDS * 9}") for number in range(50)]
        await world.memory.messages.append(agent_id, *old, by=BY)
        world.script(TaskError("DCF.ModelUnavailable", "too busy"), Says("Well."))
        assert (await world.runtime.send(agent_id, "How are you?")).text == "Well."
        (made,) = [one for one in await world.runtime.messages(agent_id) if one.role == "summary"]
        assert "user: 0: the wind is fair" in made.content or "not quoted here" in made.content


@pytest.mark.parametrize("tokens", [20, 100, 500])
def test_an_extract_stays_in_its_size_and_says_what_it_leaves_out(tokens: int) -> None:
    said = [a_message(seq, f"Number {seq}. {WORDS * 20}") for seq in range(1, 60)]
    text = extract(said, tokens)
    assert count_tokens(text) <= tokens
    assert "Number 59" in text or "59 messages are not quoted here" in text
    if "Number 1." not in text:
        assert "not quoted here" in text


def a_message(seq: int, content: str) -> Message:
    return Message(
        id=f"message-{seq}",
        agent_id="agent-1",
        seq=seq,
        role="user",
        content=content,
        parts=(),
        tokens=1,
        session_id=None,
        run_id=None,
        sender=None,
        correlation_id=None,
        replaces=None,
        archived_at=None,
        created_at=seq,
    )


async def test_what_is_told_of_senders_counts_too(tmp_path: Path) -> None:
    window = 2500
    async with local_world(tmp_path, summaries="rule") as world:
        agent = await world.runtime.create(NewAgent("mate", context_window=window), [], by=BY)
        for number in range(60):
            world.script(Says("Aye."))
            await world.runtime.send(agent.id, f"{number}", sender=f"agent-{number:036x}")
        instructions, messages, _ = json.loads(world.prompts()[-1])
        texts = [part["content"] for one in messages for part in one["parts"]]
        assert count_tokens("\n".join([instructions, *texts])) < window
