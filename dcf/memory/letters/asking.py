"""Who waits for whose answer."""

from __future__ import annotations

from dcf.memory.database import Connection
from dcf.memory.letters.errors import CircularMessage

_OPEN = "state IN ('waiting', 'taken')"


def refuse_circle(
    connection: Connection, *, sender: str, agent_id: str, correlation_id: str
) -> None:
    """Raises CircularMessage if ``agent_id`` waits, directly or through others, for an answer of
    ``sender`` under this correlation id."""
    chain = [sender]
    while chain[0] != agent_id:
        row = connection.execute(
            f"SELECT sender FROM letters WHERE correlation_id = ? AND agent_id = ? AND {_OPEN}"
            " ORDER BY created_at LIMIT 1",
            (correlation_id, chain[0]),
        ).fetchone()
        # A circle that there is already (two senders of one name, say) does not end the search.
        if row is None or row["sender"] in chain:
            return
        chain.insert(0, row["sender"])
    raise CircularMessage([*chain, agent_id])
