"""What must hold in a memory file beyond what SQLite knows: rows and their events agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from dcf.memory.audit.edit import digest_of
from dcf.memory.audit.entity import Entity
from dcf.memory.database import Connection, damage, unpacked
from dcf.memory.entities import AGENT, BLOCK, PROJECT, RECORDED
from dcf.problem import Problem


def faults(
    connection: Connection, tell: Callable[[str], object] = lambda _: None
) -> Iterator[Problem]:
    """All that is wrong in the file. What is looked at is told to ``tell``."""
    tell("checking every page")
    for line in damage(connection):
        yield Problem("memory_damaged", line, hint="restore a backup")
    tell("comparing rows with their events")
    for entity in RECORDED:
        yield from _existence_faults(connection, entity)
    for entity in (AGENT, BLOCK, PROJECT):
        yield from _revision_faults(connection, entity)
        yield from _text_faults(connection, entity)
    yield from _tag_faults(connection)


def _existence_faults(connection: Connection, entity: Entity) -> Iterator[Problem]:
    rows = {entity.id_of(dict(row)) for row in _keys(connection, entity)}
    last = connection.execute(
        "SELECT entity_id, max(seq) AS seq, change -> '$.deleted' IS NOT NULL AS gone"
        " FROM events WHERE entity = ? GROUP BY entity_id",
        (entity.name,),
    )
    known = {row["entity_id"] for row in last if not row["gone"]}
    for one in sorted(rows - known):
        yield Problem("memory_unrecorded", f"{entity.name} {one} is there, but no event made it")
    for one in sorted(known - rows):
        yield Problem("memory_lost", f"{entity.name} {one} is gone, but no event removed it")


def _revision_faults(connection: Connection, entity: Entity) -> Iterator[Problem]:
    # Each event but a deletion counts on. Where old events were given up, more cannot be said.
    rows = connection.execute(
        f"SELECT r.id, r.revision, count(*) AS events FROM {entity.table} r"
        " JOIN events e ON e.entity = ? AND e.entity_id = r.id AND e.change -> '$.deleted' IS NULL"
        " WHERE EXISTS (SELECT 1 FROM events WHERE entity = ? AND entity_id = r.id"
        " AND operation = 'created')"
        " GROUP BY r.id HAVING r.revision <> events",
        (entity.name, entity.name),
    )
    for row in rows:
        yield Problem(
            "memory_revision",
            f"{entity.name} {row['id']} has revision {row['revision']}, but {row['events']} events"
            " made it what it is",
        )


def _text_faults(connection: Connection, entity: Entity) -> Iterator[Problem]:
    for column in sorted(entity.long):
        rows = connection.execute(
            f"SELECT r.id, r.{column} AS text, e.change, e.packed FROM {entity.table} r"
            " LEFT JOIN events e ON e.seq = (SELECT max(seq) FROM events WHERE entity = ?"
            " AND entity_id = r.id AND (change -> '$.created' IS NOT NULL"
            f" OR change -> '$.changed.{column}' IS NOT NULL))",
            (entity.name,),
        )
        for row in rows:
            change = unpacked(json.loads(row["change"] or "{}"), row["packed"])
            if "created" in change:
                digest = digest_of(change["created"][column])
            elif "changed" in change:
                digest = change["changed"][column]["digest"]
            else:
                continue
            if digest != digest_of(row["text"]):
                yield Problem(
                    "memory_text",
                    f"the {column} of {entity.name} {row['id']} is not what its last event left",
                )


def _tag_faults(connection: Connection) -> Iterator[Problem]:
    rows = connection.execute(
        "SELECT id FROM agents WHERE (SELECT json_group_array(tag) FROM (SELECT tag FROM agent_tags"
        " WHERE agent_id = id ORDER BY tag)) <> json(tags)"
    )
    for row in rows:
        yield Problem("memory_tags", f"the tags of agent {row['id']} are not found by search")


def _keys(connection: Connection, entity: Entity) -> Iterator[dict[str, str]]:
    rows = connection.execute(f"SELECT {', '.join(entity.key)} FROM {entity.table}")
    return (dict(row) for row in rows)
