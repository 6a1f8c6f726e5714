"""Finding agents."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal

from dcf.memory.agents.errors import UnknownAgent
from dcf.memory.database import Connection
from dcf.memory.entities import AGENT

_COMPARED = 100


def agent_row(connection: Connection, agent_id: str) -> dict[str, Any]:
    """The row of an agent. Raises UnknownAgent with the closest ids and names."""
    found = AGENT.find(connection, agent_id)
    if found is None:
        raise _unknown(connection, agent_id)
    return found


def named_row(connection: Connection, name: str) -> dict[str, Any]:
    """The row of the agent with this name. Raises UnknownAgent with the closest names."""
    found = row_of_name(connection, name)
    if found is None:
        raise _unknown(connection, name)
    return found


def row_of_name(connection: Connection, name: str) -> dict[str, Any] | None:
    """The row of the agent with this name, if there is one."""
    found = connection.execute("SELECT * FROM agents WHERE name = ?", (name,)).fetchone()
    return None if found is None else dict(found)


def tagged_rows(
    connection: Connection,
    *,
    tags: Sequence[str],
    match: Literal["all", "any"],
    limit: int,
    after: str,
) -> list[dict[str, Any]]:
    """Rows of agents that have all (or any) of ``tags``, by name, from behind the name ``after``.

    Without tags: of all agents.
    """
    wanted = sorted(set(tags))
    where = ["name > ?"]
    values: list[object] = [after]
    if wanted:
        where.append(
            "id IN (SELECT agent_id FROM agent_tags"
            f" WHERE tag IN ({', '.join('?' * len(wanted))})"
            " GROUP BY agent_id HAVING count(*) >= ?)"
        )
        values += [*wanted, len(wanted) if match == "all" else 1]
    rows = connection.execute(
        f"SELECT * FROM agents WHERE {' AND '.join(where)} ORDER BY name LIMIT ?",
        [*values, max(limit, 0)],
    )
    return [dict(row) for row in rows]


def _unknown(connection: Connection, wanted: str) -> UnknownAgent:
    # Comparing takes long: of many names those that begin alike.
    rows = connection.execute(
        "SELECT name FROM agents ORDER BY substr(name, 1, 3) <> substr(?, 1, 3) LIMIT ?",
        (wanted, _COMPARED),
    )
    return UnknownAgent(wanted, get_close_matches(wanted, [row["name"] for row in rows], n=3))
