"""Who waits for whose answer."""

from __future__ import annotations

from collections import deque

from dcf.memory.database import Connection
from dcf.memory.letters.errors import CircularMessage

_OPEN = "state IN ('waiting', 'taken')"


def refuse_circle(
    connection: Connection, *, sender: str, agent_id: str, correlation_id: str
) -> None:
    """Raises CircularMessage if ``agent_id`` waits, directly or through others, for an answer of
    ``sender`` under this correlation id."""
    # Nearest first; who was seen already (two senders of one name, say) does not keep it going.
    chains, seen = deque([[sender]]), {sender}
    while chains:
        chain = chains.popleft()
        if chain[0] == agent_id:
            raise CircularMessage([*chain, agent_id])
        rows = connection.execute(
            f"SELECT sender FROM letters WHERE correlation_id = ? AND agent_id = ? AND {_OPEN}"
            " ORDER BY created_at, id",
            (correlation_id, chain[0]),
        )
        waiting = [row["sender"] for row in rows]
        chains += [[one, *chain] for one in dict.fromkeys(waiting) if one not in seen]
        seen.update(waiting)
