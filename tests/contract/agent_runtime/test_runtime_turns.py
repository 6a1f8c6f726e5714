"""Turns of a runtime's agents."""

from __future__ import annotations

from runtime_world import Calls, RuntimeWorld, Says, Uses

from dcf.agents import AgentRuntime, ToolSpec
from dcf.memory import Actor, NewAgent, NewBlock
from dcf.tools import ToolTimeout

WEATHER = ToolSpec(
    "weather",
    "The weather of a place.",
    {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
)


async def test_a_message_is_answered_and_both_are_kept_in_order(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Says("Hello Ada."))
    reply = await world.runtime.send(agent.id, "Hello, I am Ada.")
    assert (reply.text, reply.agent_id) == ("Hello Ada.", agent.id)
    assert reply.usage.requests == 1
    kept = await world.runtime.messages(agent.id)
    said = [(one.role, one.content) for one in kept if one.role in ("user", "assistant")]
    assert said[-2:] == [("user", "Hello, I am Ada."), ("assistant", "Hello Ada.")]
    assert [one.seq for one in kept] == sorted(one.seq for one in kept)


async def test_the_model_sees_blocks_and_what_was_said_before(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(
        NewAgent("scout"), [NewBlock("human", "She likes quinces.")], by=by
    )
    world.script(Says("Noted."), Says("Quinces."))
    await world.runtime.send(agent.id, "My bicycle is green.")
    await world.runtime.write_block(agent.id, "human", "She likes medlars.", by=by)
    await world.runtime.send(agent.id, "What do I like?")
    first, second = world.prompts()[-2:]
    assert "She likes quinces." in first
    assert "She likes medlars." in second and "She likes quinces." not in second
    assert "My bicycle is green." in second and "Noted." in second


async def test_a_tool_is_called_through_use_and_its_answer_reaches_the_model(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    await world.runtime.attach_tools(agent.id, [WEATHER], by=by)
    use = Uses(weather={"sky": "clear-as-glass"})
    world.script(Calls("weather", {"place": "Oslo"}), Says("It is clear."))
    reply = await world.runtime.send(agent.id, "How is Oslo?", use=use)
    assert use.calls == [("weather", {"place": "Oslo"})]
    assert reply.text == "It is clear."
    assert reply.usage.tool_calls == 1
    assert "clear-as-glass" in world.prompts()[-1]


async def test_the_error_of_a_tool_is_told_to_the_model(world: RuntimeWorld, by: Actor) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    await world.runtime.attach_tools(agent.id, [WEATHER], by=by)
    use = Uses(weather=ToolTimeout("skies", "weather", 3))
    world.script(Calls("weather", {"place": "Oslo"}), Says("Nobody knows."))
    reply = await world.runtime.send(agent.id, "How is Oslo?", use=use)
    assert reply.text == "Nobody knows."
    assert "did not answer within 3 s" in world.prompts()[-1]


async def test_attached_tools_are_listed_until_they_are_detached(
    runtime: AgentRuntime, by: Actor
) -> None:
    agent = await runtime.create(NewAgent("scout"), by=by)
    await runtime.attach_tools(agent.id, [WEATHER, ToolSpec("clock")], by=by)
    await runtime.attach_tools(agent.id, [ToolSpec("clock", "The time.")], by=by)
    assert {one.name: one.description for one in await runtime.tools(agent.id)} == {
        "clock": "The time.",
        "weather": "The weather of a place.",
    }
    await runtime.detach_tools(agent.id, ["weather", "never-attached"], by=by)
    assert [one.name for one in await runtime.tools(agent.id)] == ["clock"]


async def test_an_agent_writes_its_own_memory(world: RuntimeWorld, by: Actor) -> None:
    agent = await world.runtime.create(
        NewAgent("scout"), [NewBlock("human", "Name unknown.")], by=by
    )
    world.script(
        Calls(
            "core_memory_replace",
            {"label": "human", "old_content": "Name unknown.", "new_content": "Called Ada."},
        ),
        Calls("core_memory_append", {"label": "human", "content": "Likes quinces."}),
        Calls("archival_memory_insert", {"content": "Ada came by on a Monday."}),
        Says("Good to know."),
    )
    await world.runtime.send(agent.id, "I am Ada, I like quinces.")
    value = (await world.runtime.block(agent.id, "human")).value
    assert value.split("\n") == ["Called Ada.", "Likes quinces."]
    found = await world.runtime.passages(agent.id)
    assert [passage.text for passage in found] == ["Ada came by on a Monday."]


async def test_a_stream_ends_with_the_whole_reply(world: RuntimeWorld, by: Actor) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    await world.runtime.attach_tools(agent.id, [WEATHER], by=by)
    world.script(Calls("weather", {"place": "Oslo"}), Says("It is clear."))
    use = Uses(weather="clear")
    events = [event async for event in world.runtime.stream(agent.id, "How is Oslo?", use=use)]
    kinds = [event.kind for event in events]
    assert [event.tool for event in events if event.kind == "tool_call"] == ["weather"]
    assert kinds.index("tool_call") < kinds.index("tool_result") < kinds.index("text")
    assert "".join(event.text or "" for event in events if event.kind == "text") == "It is clear."
    assert kinds[-1] == "reply"
    last = events[-1].reply
    assert last is not None and last.text == "It is clear."
