"""Which events a rollback undoes, newest first."""

from __future__ import annotations

from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection


def of_agent(connection: Connection, agent_id: str, seq: int) -> list[Event]:
    """What was done to or through an agent after event ``seq``."""
    return list(newest_first(connection, Query(agent_id=agent_id, behind=seq)))


def of_consolidation(connection: Connection, consolidation_id: str, seq: int) -> list[Event]:
    """What a consolidation did after event ``seq``."""
    query = Query(consolidation_id=consolidation_id, behind=seq)
    return list(newest_first(connection, query))


def of_block(connection: Connection, block_id: str, seq: int) -> list[Event]:
    """What was done to a block, and to who holds it, after event ``seq``."""
    written = newest_first(connection, Query(entity="block", entity_id=block_id, behind=seq))
    held = connection.execute(
        "SELECT * FROM events WHERE entity = 'holder' AND seq > :seq AND :block IN"
        " (change ->> '$.created.block_id', change ->> '$.deleted.block_id')",
        {"seq": seq, "block": block_id},
    )
    events = [*written, *(Event.of(row) for row in held)]
    return sorted(events, key=lambda event: event.seq, reverse=True)
