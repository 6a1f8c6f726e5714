"""Which agents hold which blocks."""

from __future__ import annotations

from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.errors import BlockExists, BlockShared
from dcf.memory.blocks.finding import block_row, holders_of
from dcf.memory.entities import BLOCK, HOLDER


def attach(journal: Journal, agent_id: str, block_id: str, label: str) -> None:
    """Let the agent hold the block as ``label``. Raises UnknownAgent, NoSuchBlock, BlockExists."""
    agent_row(journal.connection, agent_id)
    block_row(journal.connection, block_id)
    if HOLDER.find(journal.connection, f"{agent_id}/{label}") is not None:
        raise BlockExists(agent_id=agent_id, label=label)
    last = journal.connection.execute(
        "SELECT max(position) FROM block_holders WHERE agent_id = ?", (agent_id,)
    ).fetchone()[0]
    journal.create(
        HOLDER,
        {"agent_id": agent_id, "block_id": block_id, "label": label, "position": (last or 0) + 1},
        operation="attached",
        agent_id=agent_id,
        label=label,
    )


def release(journal: Journal, holder: Row) -> None:
    """Take a block from its holder, and delete the block if nobody is left who could reach it:
    one of type ``shared`` stays."""
    agent_id, label = holder["agent_id"], holder["label"]
    journal.delete(HOLDER, holder, operation="detached", agent_id=agent_id, label=label)
    row = block_row(journal.connection, holder["block_id"])
    if row["type"] != "shared" and not holders_of(journal.connection, row["id"]):
        journal.delete(BLOCK, row, agent_id=agent_id, label=label)


def delete_block(journal: Journal, row: dict[str, Any], agent_id: str | None, label: str) -> None:
    """Remove a block and let its holder go. Raises BlockShared if other agents hold it."""
    holders = holders_of(journal.connection, row["id"])
    others = sorted({holder for holder, _ in holders} - {agent_id})
    if others:
        raise BlockShared(label=label, count=len(others), agents=", ".join(others[:5]))
    for holder, held_as in holders:
        found = HOLDER.find(journal.connection, f"{holder}/{held_as}") or {}
        journal.delete(HOLDER, found, operation="detached", agent_id=agent_id, label=held_as)
    journal.delete(BLOCK, row, agent_id=agent_id, label=label)
