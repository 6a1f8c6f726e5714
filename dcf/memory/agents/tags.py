"""The index of agents by tag, kept with the agents' rows."""

from __future__ import annotations

import json

from dcf.memory.audit.entity import Entity, Row
from dcf.memory.database import Connection


def follow_tags(
    connection: Connection, entity: Entity, before: Row | None, after: Row | None
) -> None:
    """A follower: ``agent_tags`` has a row for each tag in ``agents.tags``."""
    if entity.name != "agent" or after is None:
        # With the agent's row its tags go by themselves.
        return
    if before is not None and before["tags"] == after["tags"]:
        return
    connection.execute("DELETE FROM agent_tags WHERE agent_id = ?", (after["id"],))
    connection.executemany(
        "INSERT INTO agent_tags (tag, agent_id) VALUES (?, ?)",
        [(tag, after["id"]) for tag in json.loads(after["tags"])],
    )
