"""Which events a rollback undoes, newest first. Each raises HistoryForgotten where
some of them were given up."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dcf.memory.audit.border import refuse_beyond, refuse_forgotten, refuse_missing
from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection


def of_agent(connection: Connection, agent_id: str, seq: int) -> list[Event]:
    """What was done to or through an agent after event ``seq``."""
    refuse_beyond(connection, seq)
    return list(newest_first(connection, Query(agent_id=agent_id, behind=seq)))


def of_consolidation(connection: Connection, consolidation_id: str, seq: int) -> list[Event]:
    """What a consolidation did after event ``seq``."""
    refuse_forgotten(connection, consolidation_id)
    query = Query(consolidation_id=consolidation_id, behind=seq)
    return list(newest_first(connection, query))


def of_block(connection: Connection, block_id: str, seq: int) -> list[Event]:
    """What was done to a block, and to who holds it, after event ``seq``."""
    refuse_beyond(connection, seq)
    written = newest_first(connection, Query(entity="block", entity_id=block_id, behind=seq))
    held = connection.execute(
        "SELECT * FROM events WHERE entity = 'holder' AND seq > :seq AND :block IN"
        " (change ->> '$.created.block_id', change ->> '$.deleted.block_id')",
        {"seq": seq, "block": block_id},
    )
    events = [*written, *(Event.of(row) for row in held)]
    return sorted(events, key=lambda event: event.seq, reverse=True)


def of_project(connection: Connection, project_id: str, seq: int) -> list[Event]:
    """What was done after event ``seq`` to a project, to which blocks it has and who works in it,
    and to blocks that are its own."""
    refuse_beyond(connection, seq)
    rows = connection.execute(
        "SELECT * FROM events WHERE seq > :seq AND (entity = 'project' AND entity_id = :project"
        " OR entity IN ('project block', 'project agent') AND :project IN"
        " (change ->> '$.created.project_id', change ->> '$.deleted.project_id'))",
        {"seq": seq, "project": project_id},
    )
    events = [Event.of(row) for row in rows]
    for block_id in sorted(_own_blocks(connection, project_id)):
        events += newest_first(connection, Query(entity="block", entity_id=block_id, behind=seq))
    return sorted(events, key=lambda event: event.seq, reverse=True)


def _own_blocks(connection: Connection, project_id: str) -> set[str]:
    """Blocks of type ``project`` that the project has or had."""
    linked = connection.execute(
        "SELECT block_id FROM project_blocks WHERE project_id = :project UNION"
        " SELECT coalesce(change ->> '$.created.block_id', change ->> '$.deleted.block_id')"
        " FROM events WHERE entity = 'project block' AND :project IN"
        " (change ->> '$.created.project_id', change ->> '$.deleted.project_id')",
        {"project": project_id},
    )
    own = set()
    for (block_id,) in linked.fetchall():
        row = connection.execute(
            "SELECT type FROM blocks WHERE id = :block UNION ALL"
            " SELECT change ->> '$.deleted.type' FROM events WHERE entity = 'block'"
            " AND entity_id = :block AND change -> '$.deleted' IS NOT NULL",
            {"block": block_id},
        ).fetchone()
        if row is not None and row["type"] == "project":
            own.add(block_id)
    return own


def of_numbers(connection: Connection, seqs: Sequence[int]) -> list[Event]:
    """The events with these numbers; those that there never were are left out."""
    refuse_missing(connection, seqs)
    rows = connection.execute(
        "SELECT * FROM events WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC",
        (json.dumps(list(seqs)),),
    )
    return [Event.of(row) for row in rows]
