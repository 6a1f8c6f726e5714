"""What agents on a Letta server keep, beyond the contract, and what they cannot."""

from __future__ import annotations

import asyncio

import pytest
from integration.agents.wire_model import Refuse, Say
from letta_world import LettaWorld, letta_server
from runtime_world import Calls, Says, Uses

from dcf.agents import LocalAgents, TaskError, ToolSpec, UsageLimits, open_runtime
from dcf.agents.letta import (
    LettaAgents,
    LettaDenied,
    LettaFailed,
    LettaSettings,
    LettaUnreachable,
)
from dcf.memory import (
    Actor,
    AgentExists,
    CircularMessage,
    Memory,
    NewAgent,
    NewBlock,
    NewPassage,
    RevisionConflict,
    Source,
    random_id,
)

WEATHER = ToolSpec("weather", "The weather.", {"type": "object", "properties": {}})


async def test_a_change_by_another_program_is_seen_by_who_compares(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), [NewBlock("notes", "one")], by=by)
    seen = await world.runtime.block(agent.id, "notes")
    client = await world.runtime.connection.client()
    await client.agents.blocks.update("notes", agent_id=agent.id, value="two")
    with pytest.raises(RevisionConflict):
        await world.runtime.write_block(agent.id, "notes", "three", by=by, expected=seen.revision)
    assert (await world.runtime.block(agent.id, "notes")).value == "two"


async def test_of_writers_at_once_in_one_process_none_is_lost(world: LettaWorld, by: Actor) -> None:
    agent = await world.runtime.create(NewAgent("scout"), [NewBlock("notes", "")], by=by)
    lines = [f"line {number}" for number in range(8)]
    await asyncio.gather(
        *(
            world.runtime.rewrite_block(agent.id, "notes", lambda old, line=line: old + line + "\n")
            for line in lines
        )
    )
    value = (await world.runtime.block(agent.id, "notes")).value
    assert sorted(value.split("\n")[:-1]) == lines


async def test_a_revision_says_whether_something_changed_not_how_often(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), [NewBlock("notes", "one")], by=by)
    seen = await world.runtime.block(agent.id, "notes")
    await world.runtime.write_block(agent.id, "notes", "two", by=by)
    back = await world.runtime.write_block(agent.id, "notes", "one", by=by)
    assert back.revision == seen.revision


async def test_the_limits_of_a_block_hold_for_what_the_model_writes(
    world: LettaWorld, by: Actor
) -> None:
    block = NewBlock("notes", "old", hard_limit=10)
    agent = await world.runtime.create(NewAgent("scout"), [block], by=by)
    world.script(
        Calls("core_memory_append", {"label": "notes", "content": "x" * 20}), Says("It is full.")
    )
    await world.runtime.send(agent.id, "Write.")
    assert (await world.runtime.block(agent.id, "notes")).value == "old"
    assert "memory_over_limit" in world.prompts()[-1]


async def test_sleep_time_agents_of_the_server_are_not_started(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout", enable_sleeptime=True), by=by)
    assert (await world.runtime.get(agent.id)).enable_sleeptime
    assert [one.name for one in await world.runtime.list()] == ["scout"]


async def test_a_name_that_the_server_does_not_take_is_kept_all_the_same(
    world: LettaWorld, by: Actor
) -> None:
    name = "wf:7/Pay.Invoice#2"
    agent = await world.runtime.create(NewAgent(name, role="worker", tags=("wf:7",)), by=by)
    assert agent.name == name
    found = await world.runtime.find(name)
    assert found is not None and (found.id, found.role) == (agent.id, "worker")
    assert await world.runtime.find("wf_7_Pay_Invoice_2") is None
    with pytest.raises(AgentExists):
        await world.runtime.create(NewAgent(name), by=by)


async def test_of_two_agents_made_at_once_under_one_name_one_stays(
    world: LettaWorld, by: Actor
) -> None:
    made = await asyncio.gather(
        *(world.runtime.create(NewAgent("twin"), [], by=by) for _ in range(2)),
        return_exceptions=True,
    )
    assert sorted(type(one).__name__ for one in made) == ["Agent", "AgentExists"]
    assert len(await world.runtime.list()) == 1


async def test_a_deleted_agent_takes_its_own_blocks_with_it(world: LettaWorld, by: Actor) -> None:
    agent = await world.runtime.create(NewAgent("scout"), [NewBlock("notes", "mine")], by=by)
    shared = await world.runtime.create_block(NewBlock("team", type="shared"), by=by)
    await world.runtime.attach_block(agent.id, shared.id, by=by)
    await world.runtime.delete(agent.id, by=by)
    client = await world.runtime.connection.client()
    assert [block.id async for block in client.blocks.list()] == [shared.id]


async def test_a_turn_that_a_tool_ended_does_not_keep_the_agent_from_the_next(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    await world.runtime.attach_tools(agent.id, [WEATHER], by=by)
    world.script(Calls("weather"), Says("I do not know."))
    with pytest.raises(ZeroDivisionError):
        await world.runtime.send(agent.id, "How is it?", use=Uses(weather=ZeroDivisionError()))
    reply = await world.runtime.send(agent.id, "And now?")
    assert reply.text == "I do not know."
    assert "may or may not have been done" in world.prompts()[-1]
    roles = [one.role for one in await world.runtime.messages(agent.id)]
    assert roles == ["user", "assistant", "tool", "user", "assistant"]


async def test_a_model_that_does_not_stop_is_stopped(world: LettaWorld, by: Actor) -> None:
    eager = LettaAgents(letta_server(), limits=UsageLimits(max_requests=3))
    agent = await eager.create(NewAgent("scout"), by=by)
    world.script(*[Calls("conversation_search", {"query": "x"})] * 3)
    with pytest.raises(TaskError) as raised:
        await eager.send(agent.id, "Search.")
    await eager.aclose()
    assert raised.value.error == "DCF.LimitExceeded"
    assert len(world.prompts()) == 3


async def test_a_model_that_fails_ends_the_turn_with_its_error(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Refuse(401, "this key is no key"), Says("Here."))
    with pytest.raises(TaskError, match="this key is no key") as raised:
        await world.runtime.send(agent.id, "Hello?")
    assert raised.value.error == "DCF.ModelError"
    assert (await world.runtime.send(agent.id, "Again?")).text == "Here."


async def test_tokens_are_counted_and_money_is_not(world: LettaWorld, by: Actor) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Say("Hello.", usage=(1200, 30)))
    usage = (await world.runtime.send(agent.id, "Hello?")).usage
    assert (usage.requests, usage.input_tokens, usage.output_tokens) == (1, 1200, 30)
    assert usage.cost_usd is None


async def test_a_message_says_who_sent_it_and_under_which_correlation_id(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Says("Yes."))
    reply = await world.runtime.send(agent.id, "There?", sender="bo", correlation_id="round/7")
    assert "[From bo]" in world.prompts()[-1]
    asked, said = reply.messages
    assert (asked.content, asked.sender, asked.correlation_id) == ("There?", "bo", "round/7")
    assert (said.content, said.correlation_id) == ("Yes.", "round/7")


async def test_an_answer_to_an_agents_message_stands_at_the_head_of_its_next_turn(
    world: LettaWorld, by: Actor
) -> None:
    asking, asked = [
        await world.runtime.create(NewAgent(name), [], by=by) for name in ("asker", "asked")
    ]
    low = Say("Low tide.")
    world.model.choose = lambda prompt: low if f"[From {asking.id}]" in prompt else None
    world.script(
        Calls("send_message_to_agent_async", {"message": "Which tide?", "other_agent_id": "asked"}),
        Says("I have asked."),
    )
    await world.runtime.send(asking.id, "Find out the tide.")
    async with asyncio.timeout(30):
        while not await world.runtime.letters.answers_for(asking.id):
            await asyncio.sleep(0.1)
    world.script(Says("It is low tide."))
    await world.runtime.send(asking.id, "Well?")
    assert f"[From {asked.id}]" in world.prompts()[-1] and "Low tide." in world.prompts()[-1]
    assert await world.runtime.letters.answers_for(asking.id) == ()


async def test_a_circle_over_several_agents_is_refused(world: LettaWorld, by: Actor) -> None:
    one, two = [await world.runtime.create(NewAgent(name), [], by=by) for name in ("one", "two")]
    slow = Say("Later.", after_s=1.0)
    world.script(slow)
    receipt = await world.runtime.send_async(
        two.id, "And you?", sender=one.id, correlation_id="c", timeout_s=30
    )
    with pytest.raises(CircularMessage) as raised:
        await world.runtime.send_async(
            one.id, "And you?", sender=two.id, correlation_id="c", timeout_s=30
        )
    assert raised.value.chain == (one.id, two.id, one.id)
    # The server asks on the port that the next test's model has: nothing may be under way then.
    assert (await world.runtime.reply_to(receipt, timeout_s=30)).text == "Later."


async def test_a_message_that_a_process_left_is_delivered_by_the_next(
    world: LettaWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), [], by=by)
    gone = LettaAgents(letta_server())
    await gone._postman.aclose()
    receipt = await gone.send_async(agent.id, "Report.", sender="ada", timeout_s=60)
    await gone.aclose()
    world.script(Says("All quiet."))
    assert (await world.runtime.reply_to(receipt, timeout_s=30)).text == "All quiet."


async def test_an_archive_without_an_embedding_model_is_searched_by_words(
    world: LettaWorld, by: Actor
) -> None:
    plain = LettaAgents(letta_server(embedding=None))
    agent = await plain.create(NewAgent("scout"), [], by=by)
    news = NewPassage("The harbour opens at six.", ("town",), salience=0.9, source="a sign")
    await plain.insert_passage(agent.id, news, by=by)
    await plain.insert_passage(agent.id, NewPassage("Bread is baked on Tuesdays."), by=by)
    (found,) = await plain.search_passages(agent.id, "when does the harbour open", k=1)
    await plain.aclose()
    assert NewPassage(found.text, found.tags, found.salience, found.source) == news


async def test_a_wrong_password_and_a_server_that_is_down_are_told(by: Actor) -> None:
    wrong = LettaAgents(letta_server(token="wrong"))
    with pytest.raises(LettaDenied, match="401"):
        await wrong.get(random_id("agent"))
    await wrong.aclose()
    down = LettaAgents(letta_server(url="http://127.0.0.1:9"))
    with pytest.raises(LettaUnreachable, match=r"http://127\.0\.0\.1:9"):
        await down.check()
    await down.aclose()


async def test_a_model_that_the_server_does_not_have_is_told(world: LettaWorld, by: Actor) -> None:
    with pytest.raises(LettaFailed, match="nowhere"):
        await world.runtime.create(NewAgent("scout", model="openai:nowhere"), by=by)
    client = await world.runtime.connection.client()
    assert [block.id async for block in client.blocks.list()] == [], "nothing is left behind"


async def test_the_runtime_is_chosen_by_the_environment(world: LettaWorld, tmp_path) -> None:
    server = letta_server()
    clock, source = (lambda: 0), Source(tmp_path / "own.db")
    settings = {"DCF_RUNTIME": "letta", "DCF_LETTA_URL": server.url}
    settings |= {"DCF_LETTA_TOKEN": server.token or "", "DCF_LETTA_MODEL": server.model or ""}
    async with Memory.open(source, clock=clock, new_id=random_id) as memory:
        async with open_runtime(memory, settings) as runtime:
            assert isinstance(runtime, LettaAgents)
            made = await runtime.create(NewAgent("scout"), by=Actor("user", "ada"))
            assert len(await runtime.blocks(made.id)) == len(await memory.labels.defaults())
        async with open_runtime(memory, {}) as runtime:
            assert isinstance(runtime, LocalAgents)
        with pytest.raises(LettaDenied):
            async with open_runtime(memory, settings | {"DCF_LETTA_TOKEN": "wrong"}):
                pass
        with pytest.raises(LettaSettings, match=f"nowhere; it has: .*{server.model}"):
            async with open_runtime(memory, settings | {"DCF_LETTA_MODEL": "openai-proxy/nowhere"}):
                pass
