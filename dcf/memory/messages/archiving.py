"""Moving messages out of the context. They stay in the list, and search finds them."""

from __future__ import annotations

from dcf.memory.agents.finding import agent_row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import MESSAGE


def archive(journal: Journal, agent_id: str, first: int, last: int) -> int:
    """Archive the messages numbered ``first`` to ``last``; how many were not before.

    Raises UnknownAgent.
    """
    agent_row(journal.connection, agent_id)
    rows = journal.connection.execute(
        "SELECT * FROM messages WHERE agent_id = ? AND seq BETWEEN ? AND ?"
        " AND archived_at IS NULL ORDER BY seq",
        (agent_id, first, last),
    ).fetchall()
    for row in rows:
        before = dict(row)
        journal.update(MESSAGE, before, {**before, "archived_at": journal.at}, agent_id=agent_id)
    return len(rows)
