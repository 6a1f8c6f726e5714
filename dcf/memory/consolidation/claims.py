"""Who consolidates an agent: one at a time, in all processes."""

from __future__ import annotations

from dcf.memory.agents.finding import agent_row
from dcf.memory.consolidation.errors import ConsolidationLost, ConsolidationRunning
from dcf.memory.database import Connection


def claim(connection: Connection, agent_id: str, session_id: str, at: int, until: int) -> None:
    """The agent is consolidated by ``session_id`` until then. Raises UnknownAgent, and
    ConsolidationRunning if somebody else does it."""
    agent_row(connection, agent_id)
    other = connection.execute(
        "SELECT session_id, until FROM consolidation_claims WHERE agent_id = ? AND until > ?",
        (agent_id, at),
    ).fetchone()
    if other is not None:
        raise ConsolidationRunning(
            agent_id=agent_id,
            session_id=other["session_id"],
            seconds=-((at - other["until"]) // 1000),
        )
    connection.execute(
        "INSERT OR REPLACE INTO consolidation_claims VALUES (?, ?, ?)",
        (agent_id, session_id, until),
    )


def hold(connection: Connection, agent_id: str, session_id: str) -> None:
    """Raises UnknownAgent, and ConsolidationLost unless the agent is still this session's."""
    agent_row(connection, agent_id)
    found = connection.execute(
        "SELECT 1 FROM consolidation_claims WHERE agent_id = ? AND session_id = ?",
        (agent_id, session_id),
    ).fetchone()
    if found is None:
        raise ConsolidationLost(agent_id=agent_id)


def release(connection: Connection, session_id: str) -> None:
    """Others may consolidate the agent."""
    connection.execute("DELETE FROM consolidation_claims WHERE session_id = ?", (session_id,))
