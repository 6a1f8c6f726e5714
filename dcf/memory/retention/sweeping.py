"""Removing what is kept no longer, some rows at a time: each function is one transaction's work and
returns what it did, so that it is called until there is nothing left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import BLOCK
from dcf.memory.garbage import Garbage
from dcf.memory.retention.rules import (
    DETAILS,
    EVENT_BYTES,
    EVENTS,
    ORPHAN_BLOCKS,
    SAYS_NOTHING,
    Rule,
    measured,
)
from dcf.memory.scratch_pads import end_expired
from dcf.memory.search.indexing import follow_search


def sweep_events(
    connection: Connection, behind: int, cut: int, batch: int, now: int
) -> tuple[tuple[Garbage, Garbage], int]:
    """Give up the next ``batch`` events behind event ``behind``, up to ``cut``: what went, and up
    to where. The border moves with them."""
    row = connection.execute(
        "SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > ? AND seq <= ?"
        " ORDER BY seq LIMIT ?)",
        (behind, cut, batch),
    ).fetchone()
    end = cut if row[0] is None else int(row[0])
    span = f"t.seq > :behind AND ({EVENTS})"
    values = {"behind": behind, "cut": end}
    went = measured(connection, "events", "events", span, EVENT_BYTES, values)
    told = f"t.seq > :behind AND {DETAILS}"
    emptied = measured(connection, "event_details", "events", told, EVENT_BYTES, values)
    # Which of them go depends on the others, so all are chosen before one is removed.
    chosen = connection.execute(f"SELECT t.seq FROM events t WHERE {span}", values).fetchall()
    connection.execute(
        "INSERT OR IGNORE INTO forgotten_consolidations SELECT DISTINCT consolidation_id"
        " FROM events WHERE seq > ? AND seq <= ? AND consolidation_id IS NOT NULL",
        (behind, end),
    )
    connection.executemany("DELETE FROM events WHERE seq = ?", chosen)
    connection.execute(
        "UPDATE events SET change = ?, packed = NULL WHERE seq > ? AND seq <= ? AND change <> ?",
        (SAYS_NOTHING, behind, end, SAYS_NOTHING),
    )
    connection.execute(
        "UPDATE history_border SET seq = ?, moved_at = ? WHERE seq < ?", (end, now, end)
    )
    return (went, emptied), end


def sweep_rows(
    connection: Connection, rule: Rule, values: Mapping[str, Any], batch: int
) -> Garbage:
    """Remove the next rows that a rule means, without an event, and from the index of search."""
    rows = rule.doomed(connection, values, batch)
    chosen = "t.id IN (SELECT value FROM json_each(:ids))"
    ids = {"ids": json.dumps([row["id"] for row in rows])}
    went = measured(connection, rule.kind, rule.entity.table, chosen, rule.bytes, ids)
    for row in rows:
        follow_search(connection, rule.entity, [(row, None)])
        rule.entity.delete(connection, row)
    return went


def sweep_forgotten(connection: Connection, batch: int) -> int:
    """Forget the next consolidations of which something was given up, once nothing of them is left:
    no event, and no record; how many."""
    gone = connection.execute(
        "DELETE FROM forgotten_consolidations WHERE id IN (SELECT f.id"
        " FROM forgotten_consolidations f"
        " WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.consolidation_id = f.id)"
        " AND NOT EXISTS (SELECT 1 FROM consolidation_sessions c WHERE c.id = f.id) LIMIT ?)"
        " RETURNING id",
        (batch,),
    )
    return len(gone.fetchall())


def sweep_orphans(journal: Journal, values: Mapping[str, Any], batch: int) -> Garbage:
    """Remove the next blocks that nobody has, with an event each."""
    rows = ORPHAN_BLOCKS.doomed(journal.connection, values, batch)
    for row in rows:
        journal.delete(BLOCK, row, label=row["label"])
    size = sum(len(row["value"].encode()) for row in rows)
    return Garbage(ORPHAN_BLOCKS.kind, len(rows), size)


def sweep_pads(journal: Journal, batch: int) -> int:
    """End the next pads whose time is over; how many."""
    return end_expired(journal, most=batch)
