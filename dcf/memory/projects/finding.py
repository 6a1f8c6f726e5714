"""Finding projects, their blocks, and who works in them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from dcf.memory.audit.entity import Row
from dcf.memory.database import Connection
from dcf.memory.projects.errors import UnknownProject
from dcf.memory.projects.fields import plain_path


def known_row(connection: Connection, path: str) -> dict[str, Any] | None:
    """The row of the project with this path, if there is one."""
    found = connection.execute(
        "SELECT * FROM projects WHERE path = ?", (plain_path(path),)
    ).fetchone()
    return None if found is None else dict(found)


def project_row(connection: Connection, path: str) -> dict[str, Any]:
    """The row of the project with this path. Raises UnknownProject with the closest paths."""
    found = known_row(connection, path)
    if found is None:
        paths = [row["path"] for row in connection.execute("SELECT path FROM projects")]
        raise UnknownProject(path, get_close_matches(path, paths, n=3))
    return found


def row_of_agent(connection: Connection, agent_id: str) -> dict[str, Any] | None:
    """The row of the project that an agent works in, if it works in one."""
    found = connection.execute(
        "SELECT p.* FROM project_agents a JOIN projects p ON p.id = a.project_id"
        " WHERE a.agent_id = ?",
        (agent_id,),
    ).fetchone()
    return None if found is None else dict(found)


def block_rows(connection: Connection, project: Row) -> list[tuple[str, dict[str, Any]]]:
    """(label, row) of the project's blocks, in the order in which it got them."""
    rows = connection.execute(
        "SELECT b.*, p.label AS linked_as FROM project_blocks p JOIN blocks b ON b.id = p.block_id"
        " WHERE p.project_id = ? ORDER BY p.position, p.label",
        (project["id"],),
    )
    found = []
    for row in map(dict, rows):
        label = row.pop("linked_as")
        found.append((label, row))
    return found


def agents_in(connection: Connection, project: Row) -> list[str]:
    """Ids of the agents that work in the project, by when they came."""
    rows = connection.execute(
        "SELECT agent_id FROM project_agents WHERE project_id = ? ORDER BY entered_at, agent_id",
        (project["id"],),
    )
    return [row["agent_id"] for row in rows]


def projects_with(connection: Connection, block_id: str) -> list[tuple[str, str]]:
    """(path, label) of the projects that have a block."""
    rows = connection.execute(
        "SELECT p.path, b.label FROM project_blocks b JOIN projects p ON p.id = b.project_id"
        " WHERE b.block_id = ? ORDER BY p.path, b.label",
        (block_id,),
    )
    return [(row["path"], row["label"]) for row in rows]
