"""Messages that are left for agents: delivered, answered once, refused in circles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from local_world import LocalWorld, local_world
from runtime_world import Calls, Says

from dcf.agents import CircularMessage, LocalAgents, ReplyTimeout, TaskError
from dcf.memory import (
    SYSTEM,
    Actor,
    Letter,
    LetterLost,
    Memory,
    NewAgent,
    NewLetter,
    Source,
    UnknownLetter,
)

BY = Actor("user", "ada")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LocalWorld]:
    async with local_world(tmp_path) as opened:
        yield opened


async def an_agent(world: LocalWorld, name: str) -> str:
    return (await world.runtime.create(NewAgent(name), [], by=BY)).id


async def leave(world: LocalWorld, sender: str, agent_id: str, about: str = "c") -> str:
    """A letter that nobody delivers yet."""
    new = NewLetter(agent_id, sender, "How far?", about, timeout_ms=60_000)
    return (await world.memory.letters.leave(new, by=BY)).id


async def said(world: LocalWorld, agent_id: str) -> list[tuple[str, str | None, str]]:
    kept = await world.runtime.messages(agent_id)
    return [(one.role, one.sender, one.content) for one in kept if one.content]


async def ended(world: LocalWorld, letter_id: str) -> Letter:
    async with asyncio.timeout(20):
        while not (letter := await world.memory.letters.get(letter_id)).is_over:
            await asyncio.sleep(0.01)
    return letter


async def test_an_agent_asks_another_by_name_and_hears_the_answer(world: LocalWorld) -> None:
    one, other = await an_agent(world, "one"), await an_agent(world, "other")
    answered = asyncio.Event()

    async def say(seen: str) -> Says:
        # Either may be the first to be asked: the other works while the one goes on.
        if "Ask the other." in seen:
            return Says("I asked.")
        await answered.wait()
        return Says("Half way.")

    world.script(
        Calls("send_message_to_agent_async", {"message": "How far?", "other_agent_id": "other"}),
        say,
        say,
    )
    reply = await world.runtime.send(one, "Ask the other.", correlation_id="c-7")
    assert reply.text == "I asked."
    (letter,) = await world.memory.letters.list(other)
    assert (letter.sender, letter.correlation_id) == (one, "c-7")
    answered.set()
    await ended(world, letter.id)
    assert await said(world, other) == [("user", one, "How far?"), ("assistant", None, "Half way.")]
    assert (await said(world, one))[-1] == ("user", other, "Half way.")


async def test_an_answer_that_comes_while_the_asker_works_is_before_it_in_the_same_turn(
    world: LocalWorld,
) -> None:
    one, other = await an_agent(world, "one"), await an_agent(world, "other")

    async def say(seen: str) -> Says | Calls:
        if "Ask the other." not in seen:
            return Says("Half way.")
        (letter,) = await world.memory.letters.list(other)
        await ended(world, letter.id)
        return Calls("conversation_search", {"query": "nothing"})

    world.script(
        Calls("send_message_to_agent_async", {"message": "How far?", "other_agent_id": "other"}),
        say,
        say,
        Says("It is half way."),
    )
    await world.runtime.send(one, "Ask the other.")
    assert "Half way." in world.prompts()[-1]
    assert await said(world, one) == [
        ("user", None, "Ask the other."),
        ("user", other, "Half way."),
        ("assistant", None, "It is half way."),
    ]


async def test_a_circle_through_others_is_refused_with_its_chain(world: LocalWorld) -> None:
    a, b, c = [await an_agent(world, name) for name in "abc"]
    await leave(world, "ada", a)
    await leave(world, a, b)
    await leave(world, b, c)
    with pytest.raises(CircularMessage) as raised:
        await world.runtime.send_async(a, "And?", sender=c, timeout_s=60, correlation_id="c")
    assert raised.value.chain == (a, b, c, a)
    await leave(world, c, a, about="something else")


async def test_everybody_who_waits_for_an_agent_may_close_a_circle(world: LocalWorld) -> None:
    a, b, c = [await an_agent(world, name) for name in "abc"]
    await leave(world, a, c)
    await leave(world, b, c)
    with pytest.raises(CircularMessage) as raised:
        await leave(world, c, b)
    assert raised.value.chain == (b, c, b)


async def test_an_agent_that_asks_back_is_told_so(world: LocalWorld) -> None:
    one, other = await an_agent(world, "one"), await an_agent(world, "other")
    world.script(
        Calls("send_message_to_agent_async", {"message": "Why?", "other_agent_id": one}),
        Says("Because."),
    )
    receipt = await world.runtime.send_async(other, "What?", sender=one, timeout_s=60)
    assert (await world.runtime.reply_to(receipt, timeout_s=20)).text == "Because."
    assert f"{one} asks {other} asks {one}" in world.prompts()[-1]


async def test_a_turn_that_fails_fails_its_message(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    world.script(TaskError("DCF.ModelUnavailable", "the line is dead"))
    receipt = await world.runtime.send_async(agent_id, "Well?", sender="ada", timeout_s=60)
    with pytest.raises(TaskError, match="the line is dead"):
        await world.runtime.reply_to(receipt, timeout_s=20)


async def test_a_message_whose_time_is_over_is_not_delivered(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    # The clock of the test is a millisecond later each time that it is asked.
    receipt = await world.runtime.send_async(agent_id, "Well?", sender="ada", timeout_s=0.001)
    with pytest.raises(ReplyTimeout, match="it is expired"):
        await world.runtime.reply_to(receipt, timeout_s=20)
    assert await said(world, agent_id) == []


async def test_messages_to_one_agent_are_answered_in_order(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    world.script(*[Says(f"Answer {number}.") for number in range(3)])
    receipts = [
        await world.runtime.send_async(agent_id, f"{number}?", sender="ada", timeout_s=60)
        for number in range(3)
    ]
    replies = [await world.runtime.reply_to(receipt, timeout_s=20) for receipt in receipts]
    assert [reply.text for reply in replies] == ["Answer 0.", "Answer 1.", "Answer 2."]
    asked = [text for role, _, text in await said(world, agent_id) if role == "user"]
    assert asked == ["0?", "1?", "2?"]


async def test_a_message_of_a_runtime_that_closes_is_answered_by_the_next(
    world: LocalWorld,
) -> None:
    agent_id = await an_agent(world, "one")
    letter_id = await leave(world, "ada", agent_id)
    hung = LocalAgents(world.memory, model=world.model)
    begun = asyncio.Event()

    async def hang(_prompt: str) -> Says:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.script(hang, Says("Here."))
    hung.deliver()
    await begun.wait()
    await hung.aclose()
    letter = await world.memory.letters.get(letter_id)
    assert (letter.state, letter.tries) == ("waiting", 0)

    world.runtime.deliver()
    assert (await ended(world, letter_id)).state == "answered"
    assert await said(world, agent_id) == [
        ("user", "ada", "How far?"),
        ("assistant", None, "Here."),
    ], "it was delivered twice, and said once"


async def test_a_message_that_is_being_taken_when_its_runtime_closes_is_free_at_once(
    world: LocalWorld,
) -> None:
    letter_id = await leave(world, "ada", await an_agent(world, "one"))
    closing = LocalAgents(world.memory, model=world.model)
    closing.deliver()
    # The round has begun to take it.
    await asyncio.sleep(0)
    await closing.aclose()
    letter = await world.memory.letters.get(letter_id)
    assert (letter.state, letter.tries) == ("waiting", 0)


async def test_only_the_last_taker_answers(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    await leave(world, "ada", agent_id)
    letters = world.memory.letters
    first = await letters.take(by=SYSTEM, lease_ms=1)
    second = await letters.take(by=SYSTEM, lease_ms=60_000)
    assert first is not None and second is not None and first.id == second.id
    assert await letters.take(by=SYSTEM, lease_ms=60_000) is None
    with pytest.raises(LetterLost):
        await letters.answer(first, {}, by=SYSTEM)
    with pytest.raises(LetterLost):
        await letters.keep(first, by=SYSTEM, lease_ms=60_000)
    await letters.answer(second, {"text": "Here."}, by=SYSTEM)


async def test_a_message_that_ends_its_takers_fails_at_last(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    letter_id = await leave(world, "ada", agent_id)
    for _ in range(3):
        assert await world.memory.letters.take(by=SYSTEM, lease_ms=1) is not None
    assert await world.memory.letters.take(by=SYSTEM, lease_ms=1) is None
    letter = await world.memory.letters.get(letter_id)
    assert (letter.state, letter.error) == ("failed", "DCF.Undelivered")


async def test_messages_go_with_their_agent(world: LocalWorld) -> None:
    agent_id = await an_agent(world, "one")
    letter_id = await leave(world, "ada", agent_id)
    await world.runtime.delete(agent_id, by=BY)
    with pytest.raises(UnknownLetter):
        await world.memory.letters.get(letter_id)


async def test_letters_of_one_millisecond_are_delivered_in_their_order(tmp_path: Path) -> None:
    backwards = iter(range(99, 0, -1))
    async with Memory.open(
        Source(tmp_path / "m.db"), clock=lambda: 1, new_id=lambda kind: f"{kind}-{next(backwards)}"
    ) as memory:
        agent = await memory.agents.create(NewAgent("one"), by=BY, blocks=[])
        for text in "abc":
            await memory.letters.leave(NewLetter(agent.id, "ada", text, "c", 60_000), by=BY)
        assert [one.text for one in await memory.letters.list(agent.id)] == ["a", "b", "c"]
        for text in "abc":
            taken = await memory.letters.take(by=BY, lease_ms=60_000)
            assert taken is not None and taken.text == text
            await memory.letters.answer(taken, {}, by=BY)
