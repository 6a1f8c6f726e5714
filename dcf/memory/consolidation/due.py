"""Which agents are to be consolidated."""

from __future__ import annotations

from dataclasses import dataclass

from dcf.memory.consolidation.analyzer import active_at
from dcf.memory.database import Connection


@dataclass(frozen=True, slots=True)
class Standing:
    """When an agent was last active, and when it was last read to be consolidated (None: never) or,
    if that is ``undone``, rolled back. Times are ms since the epoch."""

    active_at: int | None
    consolidated_at: int | None
    undone: bool

    @property
    def is_new(self) -> bool:
        """Whether anything happened since the agent was consolidated, or that was undone."""
        if self.active_at is None or self.consolidated_at is None:
            return self.active_at is not None
        return self.active_at > self.consolidated_at


def sleepers(connection: Connection) -> tuple[str, ...]:
    """Ids of the agents that want to be consolidated."""
    rows = connection.execute("SELECT id FROM agents WHERE enable_sleeptime = 1 ORDER BY id")
    return tuple(row["id"] for row in rows)


def standing(connection: Connection, agent_id: str) -> Standing:
    """How it stands with an agent."""
    last = connection.execute(
        "SELECT started_at, rolled_back_at FROM consolidation_sessions WHERE agent_id = ?"
        " ORDER BY completed_at DESC, rowid DESC LIMIT 1",
        (agent_id,),
    ).fetchone()
    active = active_at(connection, agent_id)
    if last is None:
        return Standing(active, None, False)
    undone = last["rolled_back_at"]
    return Standing(active, undone or last["started_at"], undone is not None)
