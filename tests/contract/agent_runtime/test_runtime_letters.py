"""Messages that are left for a runtime's agents."""

from __future__ import annotations

import pytest
from runtime_world import RuntimeWorld, Says

from dcf.agents import CircularMessage, ReplyTimeout, UnknownReceipt
from dcf.agents.reply import Receipt
from dcf.memory import Actor, NewAgent, UnknownAgent


async def test_a_message_that_was_left_is_answered_under_its_correlation_id(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Says("All quiet."))
    receipt = await world.runtime.send_async(
        agent.id, "Report.", sender="ada", correlation_id="round-7", timeout_s=60
    )
    assert (receipt.agent_id, receipt.correlation_id) == (agent.id, "round-7")
    reply = await world.runtime.reply_to(receipt, timeout_s=60)
    assert (reply.text, reply.correlation_id) == ("All quiet.", "round-7")
    again = await world.runtime.reply_to(receipt, timeout_s=60)
    assert again.text == reply.text, "an answer can be asked for again"


async def test_who_waits_too_short_is_told_and_may_wait_again(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    world.script(Says("All quiet."))
    receipt = await world.runtime.send_async(agent.id, "Report.", sender="ada", timeout_s=60)
    with pytest.raises(ReplyTimeout):
        await world.runtime.reply_to(receipt, timeout_s=0)
    assert (await world.runtime.reply_to(receipt, timeout_s=60)).text == "All quiet."


async def test_a_circle_of_questions_is_refused_with_its_chain(
    world: RuntimeWorld, by: Actor
) -> None:
    agent = await world.runtime.create(NewAgent("scout"), by=by)
    with pytest.raises(CircularMessage) as raised:
        await world.runtime.send_async(agent.id, "And you?", sender=agent.id, timeout_s=60)
    assert raised.value.chain == (agent.id, agent.id)


async def test_a_message_to_nobody_is_refused(world: RuntimeWorld) -> None:
    with pytest.raises(UnknownAgent):
        await world.runtime.send_async("agent-none", "Hello?", sender="ada", timeout_s=60)
    receipt = Receipt("letter-none", "c", "agent-none", "ada", deadline=0)
    with pytest.raises(UnknownReceipt):
        await world.runtime.reply_to(receipt, timeout_s=1)


async def test_two_agents_answer_at_the_same_time(world: RuntimeWorld, by: Actor) -> None:
    agents = [await world.runtime.create(NewAgent(name), by=by) for name in ("one", "two")]
    world.script(Says("Here."), Says("Here."))
    receipts = [
        await world.runtime.send_async(agent.id, "Where?", sender="ada", timeout_s=60)
        for agent in agents
    ]
    replies = [await world.runtime.reply_to(receipt, timeout_s=60) for receipt in receipts]
    assert [reply.agent_id for reply in replies] == [agent.id for agent in agents]
