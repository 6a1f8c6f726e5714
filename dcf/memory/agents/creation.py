"""Making an agent, with its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dcf.memory.agent import Agent, NewAgent
from dcf.memory.agents.errors import AgentExists
from dcf.memory.agents.fields import agent_of, columns_of, fields_of
from dcf.memory.audit.journal import Journal
from dcf.memory.block import NewBlock
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.labels import default_blocks
from dcf.memory.checking import refuse, text_problems
from dcf.memory.database import Connection
from dcf.memory.entities import AGENT
from dcf.problem import Problem


def create_agent(
    journal: Journal,
    new: NewAgent,
    *,
    blocks: Sequence[NewBlock] | None = None,
    agent_id: str | None = None,
) -> Agent:
    """Make an agent that holds ``blocks`` (None: a block of each default label).

    Raises InvalidEntry, AgentExists, and what ``create_block`` raises.
    """
    if agent_id is not None:
        refuse("the agent", _id_problems(journal.connection, agent_id))
    row: dict[str, Any] = {
        "id": agent_id or journal.new_id("agent"),
        **columns_of(fields_of(new)),
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    refuse_taken(journal.connection, new.name)
    row = journal.create(AGENT, row, agent_id=row["id"])
    for block in default_blocks(journal.connection) if blocks is None else blocks:
        create_block(journal, block, agent_id=row["id"])
    return agent_of(row)


def _id_problems(connection: Connection, agent_id: str) -> Iterator[Problem]:
    unfit = list(text_problems("/id", agent_id, filled=True))
    yield from unfit
    if unfit:
        return
    if "/" in agent_id:
        # Events name rows by "agent's id/label".
        yield Problem("memory_agent_id", f"the id {agent_id!r} has a slash", "/id")
    elif AGENT.find(connection, agent_id) is not None:
        yield Problem("memory_agent_id", f"the id {agent_id!r} is another agent's", "/id")


def refuse_taken(connection: Connection, name: str) -> None:
    """Raises AgentExists if an agent has this name."""
    if connection.execute("SELECT 1 FROM agents WHERE name = ?", (name,)).fetchone():
        raise AgentExists(name=name)
