"""What the log of consolidations says of those that were undone."""

from __future__ import annotations

from dcf.memory.database import Connection


def mark_rolled_back(connection: Connection, session_id: str, at: int) -> None:
    """The session was rolled back at ``at``, if it is on record and was not before."""
    connection.execute(
        "UPDATE consolidation_sessions SET status = 'rolled_back', rolled_back_at = ?"
        " WHERE id = ? AND status = 'completed'",
        (at, session_id),
    )
