"""Talking to agents: at once, or by a message that is kept until it is answered."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from dcf.agents import Receipt, ReplyTimeout
from dcf.mcp.arguments import Alias
from dcf.mcp.envelope import Envelope
from dcf.mcp.help import Obvious
from dcf.mcp.platform import Platform
from dcf.mcp.tool import tool
from dcf.memory import Message
from dcf.workflow import iso

AgentId = Annotated[str, Obvious("Id of the agent.")]


def _told(given: str) -> str:
    if not given.strip():
        raise ValueError("says nothing")
    return given


Told = Annotated[str, Obvious("What it is told."), AfterValidator(_told)]
_SENDER = "mcp"
_LONGEST_WAIT_S = 600


class Answered(Envelope, total=False):
    """What an agent said."""

    agent_id: Annotated[str, Field(description="The agent.")]
    text: Annotated[str, Field(description="Its answer.")]
    correlation_id: Annotated[str, Field(description="What all of this conversation has.")]
    model: Annotated[str, Field(description="Who spoke for it.")]
    usage: Annotated[
        dict[str, Any], Field(description="requests, tool_calls, tokens, cost_usd, duration_ms.")
    ]


class Left(Envelope, total=False):
    """A message that is kept."""

    message_id: Annotated[str, Field(description="For read_agent_reply.")]
    agent_id: Annotated[str, Field(description="Who gets it.")]
    correlation_id: Annotated[str, Field(description="What all that follows from it has.")]
    expires_at: Annotated[str, Field(description="Not delivered later. ISO 8601.")]


class Messages(Envelope, total=False):
    """A part of a conversation."""

    agent_id: Annotated[str, Field(description="The agent.")]
    messages: Annotated[
        list[dict[str, Any]],
        Field(description="{seq, role, content, parts, sender, correlation_id, created_at}."),
    ]
    next_before: Annotated[int | None, Field(description="Pass it as before for older ones.")]


@tool(limit_s=660, strict=True)
async def send_message_to_agent(
    platform: Platform,
    agent_id: AgentId,
    message: Told,
    sender: Annotated[str | None, "Who says it: an agent's id or a name."] = None,
    correlation_id: Annotated[
        str | None, Obvious("Of the conversation that it belongs to.")
    ] = None,
) -> Answered:
    """Talk to an agent and wait for its answer: one turn, with its memory and its skills' tools."""
    home = await platform.home()
    reply = await home.runtime.send(agent_id, message, sender=sender, correlation_id=correlation_id)
    usage = reply.usage
    return {
        "status": "answered",
        "agent_id": reply.agent_id,
        "text": reply.text,
        "correlation_id": reply.correlation_id,
        "model": reply.model,
        "usage": {
            "requests": usage.requests,
            "tool_calls": usage.tool_calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd,
            "duration_ms": usage.duration_ms,
        },
    }


@tool("conductor", "companion", "strategist", "reflector", strict=True)
async def send_message_to_agent_async(
    platform: Platform,
    message: Told,
    other_agent_id: Annotated[
        str, "Id or name of who gets it.", Alias("agent_id"), Alias("agent_name")
    ],
    sender: Annotated[str | None, "Your agent id: the answer comes there, too."] = None,
    timeout_s: Annotated[float, Obvious("Seconds to deliver it."), Field(gt=0, le=86_400)] = 600,
    correlation_id: Annotated[
        str | None, Obvious("Of the conversation that it belongs to.")
    ] = None,
) -> Left:
    """Leave a message for an agent and go on. When this answers, the message is kept and will be
    delivered; read_agent_reply has the answer."""
    home = await platform.home()
    found = await home.runtime.find(other_agent_id)
    receipt = await home.runtime.send_async(
        other_agent_id if found is None else found.id,
        message,
        sender=sender or _SENDER,
        timeout_s=timeout_s,
        correlation_id=correlation_id,
    )
    return {
        "status": "kept",
        "message_id": receipt.id,
        "agent_id": receipt.agent_id,
        "correlation_id": receipt.correlation_id,
        "expires_at": iso(receipt.deadline),
    }


@tool("conductor", "companion", "strategist", "reflector", limit_s=660)
async def read_agent_reply(
    platform: Platform,
    message_id: Annotated[str, Obvious("Of a message that was left.")],
    wait_s: Annotated[
        float, Obvious("Wait so many seconds for it."), Field(ge=0, le=_LONGEST_WAIT_S)
    ] = 0,
    agent_id: Annotated[str | None, "Who got it, for agents of another server."] = None,
) -> Answered:
    """Read the answer to a message that was left; status waiting: there is none yet."""
    home = await platform.home()
    receipt = await _receipt(platform, message_id, agent_id or "")
    try:
        async with asyncio.timeout(wait_s + 5):
            reply = await home.runtime.reply_to(receipt, wait_s)
    except ReplyTimeout as waiting:
        state = str(waiting.fields["state"]).removeprefix("it is ")
        status = "expired" if state == "expired" else "waiting"
        return {"status": status, "agent_id": receipt.agent_id, "warnings": [str(waiting)]}
    return {
        "status": "answered",
        "agent_id": reply.agent_id,
        "text": reply.text,
        "correlation_id": reply.correlation_id,
        "model": reply.model,
    }


@tool("strategist", "reflector")
async def get_agent_messages(
    platform: Platform,
    agent_id: AgentId,
    limit: Annotated[int, Obvious("At most so many."), Field(ge=1, le=500)] = 50,
    before: Annotated[int | None, Obvious("next_before of the page before.")] = None,
) -> Messages:
    """Read an agent's conversation, the newest part first."""
    home = await platform.home()
    found = await home.runtime.messages(agent_id, limit, before)
    return {
        "agent_id": agent_id,
        "messages": [_shown(one) for one in found],
        "next_before": found[0].seq if len(found) == limit and found[0].seq > 1 else None,
    }


FAMILY = (
    send_message_to_agent,
    send_message_to_agent_async,
    read_agent_reply,
    get_agent_messages,
)


async def _receipt(platform: Platform, message_id: str, agent_id: str) -> Receipt:
    home = await platform.home()
    if not home.is_local:
        return Receipt(message_id, "", agent_id, "", 0)
    letter = await home.memory.letters.get(message_id)
    return Receipt(
        letter.id, letter.correlation_id, letter.agent_id, letter.sender, letter.deadline
    )


def _shown(message: Message) -> dict[str, Any]:
    return {
        "seq": message.seq,
        "role": message.role,
        "content": message.content,
        "parts": list(message.parts),
        "sender": message.sender,
        "correlation_id": message.correlation_id,
        "created_at": iso(message.created_at),
    }
