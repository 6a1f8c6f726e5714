"""Turns of agents that remember: what goes wrong in them, and what is left of that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from local_world import LocalWorld, local_world
from pydantic_ai.models.function import FunctionModel
from runtime_world import Calls, Says, Uses

from dcf.agents import LocalAgents, TaskError, ToolSpec, UsageLimits
from dcf.agents.models import Bound, ModelBudgetExhausted, Unlimited, Used
from dcf.memory import (
    SYSTEM,
    Actor,
    MemoryFull,
    NewAgent,
    NewBlock,
    NewObservation,
    Origin,
    rows_of,
)
from dcf.tools import PermissionDenied

BY = Actor("user", "ada")
CLOCK = ToolSpec("clock", "", {"type": "object", "properties": {"zone": {"type": "string"}}})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LocalWorld]:
    limits = UsageLimits(max_requests=6, max_tool_calls=4)
    async with local_world(tmp_path, limits=limits, summaries="rule") as opened:
        yield opened


async def an_agent(world: LocalWorld, *blocks: NewBlock, **fields: Any) -> str:
    agent = await world.runtime.create(NewAgent("scout", **fields), blocks, by=BY)
    await world.runtime.attach_tools(agent.id, [CLOCK], by=BY)
    return agent.id


def told(world: LocalWorld) -> str:
    return world.prompts()[-1]


async def failed(world: LocalWorld, agent_id: str, **given: Any) -> TaskError:
    with pytest.raises(TaskError) as raised:
        await world.runtime.send(agent_id, "Go on.", **given)
    return raised.value


async def test_a_turn_that_fails_keeps_the_question_what_was_done_and_why(
    world: LocalWorld,
) -> None:
    agent_id = await an_agent(world)
    world.script(Calls("clock"), TaskError("DCF.ModelUnavailable", "the line is dead"))
    error = await failed(world, agent_id, use=Uses(clock="noon"))
    assert error.error == "DCF.ModelUnavailable"
    kept = await world.runtime.messages(agent_id)
    assert [message.role for message in kept] == ["user", "assistant", "tool"]
    (turn,) = await world.memory.turns.list(agent_id)
    assert (turn.state, turn.error, turn.cause) == (
        "failed",
        "DCF.ModelUnavailable",
        "the line is dead",
    )
    assert (turn.first, turn.last, turn.usage.tool_calls) == (1, 3, 1)

    world.script(Says("It was noon."))
    await world.runtime.send(agent_id, "And?")
    assert "Go on." in told(world) and "noon" in told(world)


async def test_what_a_tool_showed_in_the_turn_may_be_cited(world: LocalWorld) -> None:
    new = NewObservation("bugfix", "Pay: a retry got over Busy", Origin("run", "r-1"))
    (one,) = await world.memory.observations.add(new, by=BY)
    agent_id = await an_agent(world)
    cites = f"See {one.citation}."
    world.script(Says(cites), Calls("clock"), Says(cites), Says(cites))
    used = []
    for _ in range(3):
        shown = Uses(clock={"rows": rows_of([one], 0)})
        await world.runtime.send(agent_id, f"What of {one.citation}?", use=shown)
        used.append((await world.memory.observations.get(one.id)).used)
    # The third turn has the tool's answer of the second before it.
    assert used == [0, 1, 2]


async def test_a_call_that_was_cut_off_is_answered_by_saying_so(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    never = asyncio.Event()

    async def use(name: str, arguments: dict[str, Any]) -> Any:
        await never.wait()

    world.script(Calls("clock"))
    turn = asyncio.create_task(world.runtime.send(agent_id, "What time?", use=use))
    while not [one for one in await world.runtime.messages(agent_id) if one.parts]:
        await asyncio.sleep(0.01)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    (ended,) = await world.memory.turns.list(agent_id)
    assert (ended.state, ended.error) == ("failed", "DCF.Interrupted")

    world.script(Says("I do not know."))
    await world.runtime.send(agent_id, "Well?")
    assert "it may or may not have been done" in told(world)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (Calls("clock", '{"zone": '), "are not a JSON object"),
        (Calls("clock", '["UTC"]'), "are not a JSON object"),
        (Calls("clock", {"zone": 7}), "$.zone: 7 is not of type 'string'"),
        (Calls("clocks"), "there is no tool 'clocks'; there are: "),
        (Calls("core_memory_append", {"label": "human"}), "'content' is a required property"),
    ],
)
async def test_a_malformed_call_is_told_to_the_model_which_may_mend_it(
    world: LocalWorld, call: Calls, says: str
) -> None:
    agent_id = await an_agent(world)
    use = Uses(clock="noon")
    world.script(call, Calls("clock", {"zone": "UTC"}), Says("Noon."))
    reply = await world.runtime.send(agent_id, "What time?", use=use)
    assert says in world.prompts()[1]
    assert use.calls == [("clock", {"zone": "UTC"})]
    assert reply.text == "Noon."


async def test_a_model_that_goes_on_calling_wrongly_ends_its_turn(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(*[Calls("clock", "no json")] * 3)
    error = await failed(world, agent_id, use=Uses(clock="noon"))
    assert error.error == "DCF.ModelError"
    assert "3 times in a row; last: the arguments of clock are not a JSON object" in error.cause


async def test_a_tool_loop_ends_at_the_limit(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    use = Uses(clock="noon")
    world.script(*[Calls("clock")] * 5)
    error = await failed(world, agent_id, use=use)
    assert error.error == "DCF.LimitExceeded"
    assert len(use.calls) == 4
    world.script(Says("Sorry."))
    assert (await world.runtime.send(agent_id, "Stop.")).text == "Sorry."


async def test_a_model_that_says_nothing_twice_fails(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(Says(""), Says("  "))
    assert (await failed(world, agent_id)).cause.endswith("answered nothing")


async def test_a_denied_call_is_told_to_the_model(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    denied = PermissionDenied("time", "clock", "not in this house", [])
    world.script(Calls("clock"), Says("I may not."))
    reply = await world.runtime.send(agent_id, "What time?", use=Uses(clock=denied))
    assert reply.text == "I may not."
    assert "time:clock is denied: not in this house" in told(world)


async def test_tools_of_others_are_offered_only_where_they_can_be_called(
    world: LocalWorld,
) -> None:
    agent_id = await an_agent(world)
    world.script(Says("Hm."), Says("Hm."))
    await world.runtime.send(agent_id, "One.")
    assert '"clock"' not in told(world)
    await world.runtime.send(agent_id, "Two.", use=Uses())
    assert '"clock"' in told(world)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (Calls("core_memory_append", {"label": "rules", "content": "x"}), "memory_read_only"),
        (Calls("memory_rethink", {"label": "notes", "new_memory": "x" * 99}), "memory_over_limit"),
        (Calls("memory_rethink", {"label": "nots", "new_memory": "x"}), "memory_unknown_block"),
        (
            Calls(
                "core_memory_replace",
                {"label": "notes", "old_content": "absent", "new_content": ""},
            ),
            "memory_text_not_found",
        ),
        (
            Calls("send_message_to_agent_async", {"message": "?", "other_agent_id": "nobody"}),
            "memory_unknown_agent",
        ),
    ],
)
async def test_what_the_memory_refuses_is_told_to_the_model(
    world: LocalWorld, call: Calls, code: str
) -> None:
    agent_id = await an_agent(
        world, NewBlock("rules", "fixed", read_only=True), NewBlock("notes", "a", hard_limit=50)
    )
    world.script(call, Says("I see."))
    assert (await world.runtime.send(agent_id, "Note this.")).text == "I see."
    assert code in told(world)
    values = [block.value for block in await world.runtime.blocks(agent_id)]
    assert values == ["fixed", "a"]


async def test_changes_of_an_agent_are_recorded_as_its_own_with_the_turn(
    world: LocalWorld,
) -> None:
    agent_id = await an_agent(world, NewBlock("notes", "a"))
    world.script(Calls("memory_rethink", {"label": "notes", "new_memory": "b"}), Says("Done."))
    await world.runtime.send(agent_id, "Rethink.")
    block = await world.runtime.block(agent_id, "notes")
    (event,) = [
        one
        for one in await world.memory.events.list(agent_id=agent_id)
        if one.entity_id == block.id and one.operation == "updated"
    ]
    (turn,) = await world.memory.turns.list(agent_id)
    assert event.by.kind == "agent" and event.by.name == agent_id
    assert event.by.reason == f"memory_rethink in {turn.id}"


async def test_an_agent_searches_its_archive_and_its_conversation(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(
        Calls("archival_memory_insert", {"content": "Minka is a cat.", "tags": ["pets"]}),
        Says("Kept."),
        Calls("archival_memory_search", {"query": "Minka", "tags": ["pets"]}),
        Calls("conversation_search", {"query": "remember Minka", "roles": ["user"]}),
        Says("A cat."),
    )
    await world.runtime.send(agent_id, "Please remember Minka, my cat.")
    await world.runtime.send(agent_id, "Who is Minka?")
    returned = [
        part["content"]
        for message in await world.runtime.messages(agent_id)
        for part in message.parts
        if part["kind"] == "return"
    ]
    assert [one["text"] for one in returned[1]] == ["Minka is a cat."]
    assert returned[2][0]["text"] == "Please remember Minka, my cat."


async def test_what_no_memory_takes_is_cleaned_before_it_is_kept(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(Calls("clock"), Says("a\0b\ud800"))
    reply = await world.runtime.send(
        agent_id, "What time?", use=Uses(clock={"t\0": [float("nan"), "\ud800"]})
    )
    assert reply.messages[-1].content == "ab?"
    assert reply.messages[2].parts[0]["content"] == {"t": ["nan", "?"]}


async def test_the_reply_and_the_memory_say_the_same(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(Calls("clo\ud800ck"), Says("ten\0 to\ud800 six"))
    reply = await world.runtime.send(agent_id, "What time is it?")
    kept = await world.runtime.messages(agent_id)
    assert reply.text == kept[-1].content == "ten to? six"
    assert [part["tool"] for one in kept for part in one.parts] == ["clo?ck", "clo?ck"]


async def test_a_budget_stops_a_turn_before_the_model_is_asked(tmp_path: Path) -> None:
    class Spent(Unlimited):
        async def reserve(self, bound: Bound) -> str:
            raise ModelBudgetExhausted("nothing is left")

    async with local_world(tmp_path, allowance_of=lambda agent: Spent()) as world:
        agent_id = await an_agent(world)
        world.script(Says("Never asked."))
        assert (await failed(world, agent_id)).error == "DCF.BudgetExhausted"
        assert world.prompts() == []
        (kept,) = await world.runtime.messages(agent_id)
        assert kept.content == "Go on."


async def test_what_a_turn_used_is_kept_with_it(tmp_path: Path) -> None:
    class Priced(Unlimited):
        async def settle(self, reservation: str, used: Used) -> None:
            self.used.append(used)

    allowance = Priced()
    async with local_world(tmp_path, allowance_of=lambda agent: allowance) as world:
        agent_id = await an_agent(world)
        world.script(Calls("clock"), Says("Noon."))
        reply = await world.runtime.send(agent_id, "Time?", use=Uses(clock="noon"))
        (turn,) = await world.memory.turns.list(agent_id)
    assert turn.usage == reply.usage
    assert (turn.usage.requests, turn.usage.tool_calls) == (2, 1)
    assert turn.usage.input_tokens == sum(used.input_tokens for used in allowance.used) > 0
    assert all(used.cost_usd in (None, Decimal(0)) for used in allowance.used)
    assert turn.model == "scripted"


async def test_turns_of_one_agent_follow_each_other(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(Calls("clock"), Says("First."), Says("Second."))

    async def use(name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0.05)
        return "noon"

    first = asyncio.create_task(world.runtime.send(agent_id, "One.", use=use))
    await asyncio.sleep(0)
    second = asyncio.create_task(world.runtime.send(agent_id, "Two."))
    await asyncio.gather(first, second)
    said = [one.content for one in await world.runtime.messages(agent_id) if one.content]
    assert said == ["One.", "First.", "Two.", "Second."]


@pytest.mark.parametrize("line", [Says("Noon."), TaskError("DCF.ModelUnavailable", "dead line")])
async def test_the_own_end_of_a_turn_is_not_taken_for_that_of_another(
    world: LocalWorld, monkeypatch: pytest.MonkeyPatch, line: Says | TaskError
) -> None:
    agents = LocalAgents(world.memory, model=world.model, lease_s=0.15)
    agent_id = await an_agent(world)

    def late(end: Any) -> Any:
        async def ending(*given: Any, **named: Any) -> Any:
            ended = await end(*given, **named)
            # Long enough to say again that the turn is worked on.
            await asyncio.sleep(0.2)
            return ended

        return ending

    for name in ("answer", "fail"):
        monkeypatch.setattr(world.memory.turns, name, late(getattr(world.memory.turns, name)))
    world.script(line)
    if isinstance(line, Says):
        assert (await agents.send(agent_id, "Time?")).text == "Noon."
    else:
        with pytest.raises(TaskError, match="dead line"):
            await agents.send(agent_id, "Time?")
    await agents.aclose()


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_turn_whose_caller_goes_away_as_it_begins_is_over(
    world: LocalWorld, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    agent_id = await an_agent(world)
    begun, known, begin = asyncio.Event(), asyncio.Event(), world.memory.turns.begin

    async def slowly(*given: Any, **named: Any) -> Any:
        turn = await begin(*given, **named)
        # It is kept, and its caller does not know it yet.
        begun.set()
        await known.wait()
        return turn

    with monkeypatch.context() as patch:
        patch.setattr(world.memory.turns, "begin", slowly)
        going = asyncio.create_task(world.runtime.send(agent_id, "Time?"))
        await begun.wait()
        for _ in range(times):
            going.cancel()
            await asyncio.sleep(0)
        known.set()
        with pytest.raises(asyncio.CancelledError):
            await going
    (turn,) = await world.memory.turns.list(agent_id)
    assert (turn.state, turn.error) == ("failed", "DCF.Interrupted")


async def test_who_stops_listening_ends_the_turn(world: LocalWorld) -> None:
    agent_id = await an_agent(world)
    world.script(Calls("clock"))
    started = asyncio.Event()

    async def use(name: str, arguments: dict[str, Any]) -> Any:
        started.set()
        await asyncio.Event().wait()

    events = world.runtime.stream(agent_id, "Time?", use=use)
    async for event in events:
        if event.kind == "tool_call":
            break
    await started.wait()
    await events.aclose()  # type: ignore[attr-defined]
    (turn,) = await world.memory.turns.list(agent_id)
    assert turn.state == "failed"


async def test_an_answer_that_cannot_be_kept_ends_its_turn(
    world: LocalWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent_id = await an_agent(world)
    world.script(Says("Noon."), Says("Noon again."))

    async def full(*_: Any, **__: Any) -> Any:
        raise MemoryFull(path="memory.db")

    with monkeypatch.context() as patch:
        patch.setattr(type(world.memory.turns), "answer", full)
        with pytest.raises(MemoryFull):
            await world.runtime.send(agent_id, "Time?")
        (turn,) = await world.memory.turns.list(agent_id)
        assert (turn.state, turn.error) == ("failed", "DCF.Interrupted")
        # Nor does it hide what happened that the end cannot be kept either.
        patch.setattr(type(world.memory.turns), "fail", full)
        with pytest.raises(MemoryFull):
            await world.runtime.send(agent_id, "Time?")


async def test_text_is_told_as_it_comes(world: LocalWorld) -> None:
    async def pieces(_messages: Any, _info: Any) -> AsyncIterator[str]:
        for piece in ("It is ", "noon", "."):
            yield piece

    model = FunctionModel(stream_function=pieces, model_name="streaming")
    agents = LocalAgents(world.memory, model=model)
    agent = await agents.create(NewAgent("scout"), by=SYSTEM)
    events = [event async for event in agents.stream(agent.id, "What time?")]
    assert [event.text for event in events if event.kind == "text"] == ["It is ", "noon", "."]
    assert events[-1].reply is not None and events[-1].reply.text == "It is noon."
    await agents.aclose()


async def test_without_a_model_the_rehearsal_answers_and_says_so(world: LocalWorld) -> None:
    agents = LocalAgents(world.memory)
    agent = await agents.create(NewAgent("scout"), by=SYSTEM)
    reply = await agents.send(agent.id, "Good morning.")
    assert reply.text.startswith("Rehearsal: no model is configured")
    assert reply.model == "rehearsal"
    await agents.aclose()
