"""Finding blocks."""

from __future__ import annotations

from typing import Any

from dcf.memory.agents.finding import agent_row
from dcf.memory.blocks.errors import NoSuchBlock, UnknownBlock
from dcf.memory.database import Connection
from dcf.memory.entities import BLOCK

_HELD = (
    "SELECT b.*, h.label AS held_as FROM held_blocks h JOIN blocks b ON b.id = h.block_id"
    " WHERE h.agent_id = ?"
)


def block_row(connection: Connection, block_id: str) -> dict[str, Any]:
    """The row of a block. Raises NoSuchBlock."""
    found = BLOCK.find(connection, block_id)
    if found is None:
        raise NoSuchBlock(block_id=block_id)
    return found


def held_row(connection: Connection, agent_id: str, label: str) -> dict[str, Any]:
    """The row of the block that is ``label`` for an agent. Raises UnknownAgent, UnknownBlock."""
    row = connection.execute(f"{_HELD} AND h.label = ?", (agent_id, label)).fetchone()
    if row is None:
        agent = agent_row(connection, agent_id)
        raise UnknownBlock(agent["name"], label, labels_of(connection, agent_id))
    return _without_label(row)


def held_rows(connection: Connection, agent_id: str) -> list[tuple[str, dict[str, Any]]]:
    """(label, row) of all blocks of an agent, in the order in which it got them; then those of the
    project that it works in.

    Raises UnknownAgent.
    """
    agent_row(connection, agent_id)
    rows = connection.execute(
        f"{_HELD} ORDER BY h.project_id IS NOT NULL, h.position, h.label", (agent_id,)
    )
    return [(row["held_as"], _without_label(row)) for row in rows]


def own_rows(connection: Connection, agent_id: str) -> list[tuple[str, dict[str, Any]]]:
    """(label, row) of the blocks that an agent holds itself, in the order in which it got them:
    also those in whose place it sees a project's, and none of the project's."""
    rows = connection.execute(
        "SELECT b.*, h.label AS held_as FROM block_holders h JOIN blocks b ON b.id = h.block_id"
        " WHERE h.agent_id = ? ORDER BY h.position, h.label",
        (agent_id,),
    )
    return [(row["held_as"], _without_label(row)) for row in rows]


def matching_rows(
    connection: Connection,
    *,
    label: str | None,
    type: str | None,
    project: str | None,
    limit: int,
    after: str,
) -> list[dict[str, Any]]:
    """Rows of blocks for which every given field holds, by id, from behind the id ``after``."""
    given = {"label": label, "type": type, "project": project}
    wanted = {name: value for name, value in given.items() if value is not None}
    where = " AND ".join(["id > ?", *(f"{name} = ?" for name in wanted)])
    rows = connection.execute(
        f"SELECT * FROM blocks WHERE {where} ORDER BY id LIMIT ?",
        (after, *wanted.values(), max(limit, 0)),
    )
    return [dict(row) for row in rows]


def labels_of(connection: Connection, agent_id: str) -> list[str]:
    """The labels of an agent's blocks."""
    rows = connection.execute("SELECT label FROM held_blocks WHERE agent_id = ?", (agent_id,))
    return [row["label"] for row in rows]


def paths_with(connection: Connection, block_id: str) -> list[str]:
    """Paths of the projects that have a block."""
    rows = connection.execute(
        "SELECT DISTINCT p.path FROM project_blocks b JOIN projects p ON p.id = b.project_id"
        " WHERE b.block_id = ? ORDER BY p.path",
        (block_id,),
    )
    return [row["path"] for row in rows]


def holders_of(connection: Connection, block_id: str) -> list[tuple[str, str]]:
    """(agent id, label) of all who hold a block themselves."""
    rows = connection.execute(
        "SELECT agent_id, label FROM block_holders WHERE block_id = ? ORDER BY agent_id, label",
        (block_id,),
    )
    return [(row["agent_id"], row["label"]) for row in rows]


def _without_label(row: Any) -> dict[str, Any]:
    found = dict(row)
    del found["held_as"]
    return found
