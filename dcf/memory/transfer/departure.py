"""Agents that go out of a memory: as they are, they stay in it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dcf.memory.agent import Agent
from dcf.memory.agents.fields import agent_of
from dcf.memory.agents.finding import agent_row
from dcf.memory.block import Block
from dcf.memory.blocks.fields import block_of
from dcf.memory.blocks.finding import own_rows
from dcf.memory.database import Connection
from dcf.memory.memory import Memory
from dcf.memory.message import Message
from dcf.memory.messages.fields import message_of
from dcf.memory.messages.finding import Page, message_rows

_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class Departure:
    """An agent with its blocks, in its order, and its conversation. A block that is shared has one
    id with all. What the agent only sees, because it works in a project, is the project's and stays
    with it."""

    agent: Agent
    blocks: tuple[Block, ...]
    messages: tuple[Message, ...]


async def give_out(memory: Memory, agent_ids: Sequence[str]) -> tuple[Departure, ...]:
    """The agents with all that is theirs, of one moment. Raises UnknownAgent."""
    return await memory.ledger.read(
        lambda connection: tuple(_departure(connection, one) for one in agent_ids)
    )


def _departure(connection: Connection, agent_id: str) -> Departure:
    agent = agent_of(agent_row(connection, agent_id))
    blocks = (block_of(row, label=label) for label, row in own_rows(connection, agent_id))
    messages = map(message_of, message_rows(connection, agent_id, Page(limit=_ALL)))
    return Departure(agent, tuple(blocks), tuple(messages))
