"""Which agents hold which blocks."""

from __future__ import annotations

from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.blocks.errors import BlockExists, BlockOfProject, BlockShared
from dcf.memory.blocks.finding import block_row, holders_of, labels_of, paths_with
from dcf.memory.checking import refuse, text_problems
from dcf.memory.database import Connection
from dcf.memory.entities import BLOCK, HOLDER


def attach(journal: Journal, agent_id: str, block_id: str, label: str) -> None:
    """Let the agent hold the block as ``label``.

    Raises UnknownAgent, NoSuchBlock, InvalidEntry, BlockExists.
    """
    refuse(f"the label {label!r}", text_problems("/label", label, filled=True))
    agent_row(journal.connection, agent_id)
    block_row(journal.connection, block_id)
    held = HOLDER.find(journal.connection, f"{agent_id}/{label}") is not None
    if held or label in labels_of(journal.connection, agent_id):
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
    row = block_row(journal.connection, holder["block_id"])
    goes = goes_with_holder(journal.connection, row)
    journal.delete(HOLDER, holder, operation="detached", agent_id=agent_id, label=label)
    if goes:
        journal.delete(BLOCK, row, agent_id=agent_id, label=label)


def goes_with_holder(connection: Connection, row: Row) -> bool:
    """Whether the block is deleted when the one who holds it lets go of it."""
    holders = holders_of(connection, row["id"])
    return row["type"] != "shared" and len(holders) == 1 and not paths_with(connection, row["id"])


def is_kept(connection: Connection, block_id: str) -> bool:
    """Whether an agent holds the block, or a project has it."""
    return bool(holders_of(connection, block_id) or paths_with(connection, block_id))


def delete_block(journal: Journal, row: dict[str, Any], agent_id: str | None, label: str) -> None:
    """Remove a block and let its holder go. Raises BlockShared if other agents hold it, and
    BlockOfProject if a project has it."""
    paths = paths_with(journal.connection, row["id"])
    if paths:
        raise BlockOfProject(label=label, paths=", ".join(paths[:5]))
    holders = holders_of(journal.connection, row["id"])
    others = sorted({holder for holder, _ in holders} - {agent_id})
    if others:
        raise BlockShared(label=label, count=len(others), agents=", ".join(others[:5]))
    for holder, held_as in holders:
        found = HOLDER.find(journal.connection, f"{holder}/{held_as}") or {}
        journal.delete(HOLDER, found, operation="detached", agent_id=agent_id, label=held_as)
    journal.delete(BLOCK, row, agent_id=agent_id, label=label)
