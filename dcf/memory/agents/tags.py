"""The index of agents by tag, kept with the agents' rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dcf.memory.audit.entity import Entity, Row, Turn
from dcf.memory.database import Connection


def follow_tags(connection: Connection, entity: Entity, turns: Sequence[Turn]) -> None:
    """A follower: ``agent_tags`` has a row for each tag in ``agents.tags``."""
    for before, after in turns if entity.name == "agent" else ():
        # With the agent's row its tags go by themselves.
        if after is not None and (before is None or before["tags"] != after["tags"]):
            _set_tags(connection, after)


def _set_tags(connection: Connection, after: Row) -> None:
    connection.execute("DELETE FROM agent_tags WHERE agent_id = ?", (after["id"],))
    connection.executemany(
        "INSERT INTO agent_tags (tag, agent_id) VALUES (?, ?)",
        [(tag, after["id"]) for tag in json.loads(after["tags"])],
    )
