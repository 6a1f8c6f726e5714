"""Making an agent, with its blocks."""

from __future__ import annotations

from collections.abc import Sequence

from dcf.memory.agent import Agent, NewAgent
from dcf.memory.agents.errors import AgentExists
from dcf.memory.agents.fields import agent_of, columns_of, fields_of
from dcf.memory.audit.journal import Journal
from dcf.memory.block import NewBlock
from dcf.memory.blocks.creation import create_block
from dcf.memory.blocks.labels import default_blocks
from dcf.memory.database import Connection
from dcf.memory.entities import AGENT


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
    row = {
        "id": agent_id or journal.new_id("agent"),
        **columns_of(fields_of(new)),
        "revision": 1,
        "created_at": journal.at,
        "updated_at": journal.at,
    }
    refuse_taken(journal.connection, new.name)
    journal.create(AGENT, row, agent_id=row["id"])
    for block in default_blocks(journal.connection) if blocks is None else blocks:
        create_block(journal, block, agent_id=row["id"])
    return agent_of(row)


def refuse_taken(connection: Connection, name: str) -> None:
    """Raises AgentExists if an agent has this name."""
    if connection.execute("SELECT 1 FROM agents WHERE name = ?", (name,)).fetchone():
        raise AgentExists(name=name)
