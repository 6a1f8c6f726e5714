"""Agents that come into a memory from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal, TypeAlias

from dcf.memory.actor import Actor
from dcf.memory.agent import Agent, NewAgent
from dcf.memory.agents.creation import create_agent
from dcf.memory.audit.journal import Journal
from dcf.memory.block import NewBlock
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.holding import attach
from dcf.memory.database import Connection
from dcf.memory.memory import Memory
from dcf.memory.message import NewMessage
from dcf.memory.messages.appending import append
from dcf.memory.messages.archiving import archive
from dcf.memory.messages.pricing import Priced, priced

OnNameTaken: TypeAlias = Literal["suffix", "refuse"]
"""What happens to an agent whose name another one has: it is called ``name-2``, or nothing is
taken in."""


@dataclass(frozen=True, slots=True)
class ArrivingMessage:
    """A message, when it was made (ms since the epoch, UTC; None: now), and whether it stays out of
    the context."""

    new: NewMessage
    created_at: int | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """An agent, the keys of its blocks, in its order, and its conversation."""

    agent: NewAgent
    blocks: Sequence[str] = ()
    messages: Sequence[ArrivingMessage] = ()


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Agents, and their blocks by a key: one that several agents name is shared by them."""

    agents: Sequence[Arrival]
    blocks: Mapping[str, NewBlock] = field(default_factory=dict)


async def take_in(
    memory: Memory, arrivals: Arrivals, *, by: Actor, on_name_taken: OnNameTaken = "suffix"
) -> tuple[Agent, ...]:
    """The agents, made with all that is theirs in one transaction: all of them or none.

    Raises InvalidEntry, AgentExists, BlockExists, OverLimit.
    """
    said = await asyncio.to_thread(_said, arrivals)
    return await memory.ledger.change(
        by, lambda journal: _settle(journal, arrivals, said, on_name_taken)
    )


def _said(arrivals: Arrivals) -> list[tuple[Priced, ...]]:
    """The messages of each agent. Raises InvalidEntry."""
    return [priced([one.new for one in arrival.messages]) for arrival in arrivals.agents]


def _settle(
    journal: Journal,
    arrivals: Arrivals,
    said: Sequence[Sequence[Priced]],
    on_name_taken: OnNameTaken,
) -> tuple[Agent, ...]:
    made: dict[str, str] = {}
    agents = []
    for arrival, messages in zip(arrivals.agents, said, strict=True):
        new = arrival.agent
        if on_name_taken == "suffix":
            new = replace(new, name=_free_name(journal.connection, new.name))
        agent = create_agent(journal, new, blocks=())
        for key in arrival.blocks:
            block = arrivals.blocks[key]
            if key in made:
                attach(journal, agent.id, made[key], block.label)
            else:
                made[key] = create_block(journal, block, agent_id=agent.id).id
        _converse(journal, agent.id, arrival.messages, messages)
        agents.append(agent)
    return tuple(agents)


def _converse(
    journal: Journal,
    agent_id: str,
    arriving: Sequence[ArrivingMessage],
    messages: Sequence[Priced],
) -> None:
    times = [journal.at if one.created_at is None else one.created_at for one in arriving]
    added = append(journal, agent_id, messages, created_at=times)
    for message, one in zip(added, arriving, strict=True):
        if one.archived:
            archive(journal, agent_id, message.seq, message.seq)


def _free_name(connection: Connection, name: str) -> str:
    """``name``, or with the first number behind it that nobody has."""
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    taken = "SELECT 1 FROM agents WHERE name = ?"
    return next(one for one in names if connection.execute(taken, (one,)).fetchone() is None)
