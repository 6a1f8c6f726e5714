"""What stands in the way of a rollback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.audit.entity import Entity, Row
from dcf.memory.audit.event import Event
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection
from dcf.memory.entities import ENTITIES
from dcf.memory.errors import MemoryProblem

_SHOWN = 8
"""Conflicts in the text; the error has all of them."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why one row cannot go back. ``later`` are the events, newest first, that came in between, if
    it is them; ``with_row`` is the (entity, id) of another row that is in the way."""

    entity: str
    entity_id: str
    reason: str
    later: tuple[Event, ...] = ()
    with_row: tuple[str, str] | None = None


class RollbackRefused(MemoryProblem):
    """Nothing was rolled back: {text}."""

    code = "memory_rollback_refused"
    hint = "roll back what came in between first; `dcf memory history` lists it"

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = tuple(conflicts)
        shown = [conflict.reason for conflict in conflicts[:_SHOWN]]
        if len(conflicts) > _SHOWN:
            shown.append(f"and {len(conflicts) - _SHOWN} more")
        super().__init__(text="; ".join(shown))


def blame(connection: Connection, undone: Sequence[Event], column: str | None) -> Conflict:
    """The conflict of a row that is not as the last of ``undone`` left it in ``column`` (None: in
    whether it is there)."""
    stuck, mine = undone[-1], {event.seq for event in undone}
    query = Query(entity=stuck.entity, entity_id=stuck.entity_id, behind=stuck.seq)
    later = tuple(
        event
        for event in newest_first(connection, query)
        if event.seq not in mine and (column is None or _touches(event, column))
    )
    what = f"{stuck.entity} {stuck.label or stuck.entity_id!r}"
    numbers = ", ".join(
        f"{event.seq} ({event.operation} by {event.by.name})" for event in later[:5]
    )
    reason = f"{what} was changed after event {stuck.seq}, by event {numbers or 'unknown'}"
    return Conflict(stuck.entity, stuck.entity_id, reason, later)


def name_taken(connection: Connection, entity: Entity, then: Row | None) -> Conflict | None:
    """The conflict of a row that would have a name or a number which another row has."""
    column = entity.unique or entity.number
    if then is None or column is None:
        return None
    alike = [column] if entity.number is None or entity.owner is None else [entity.owner, column]
    where = " AND ".join(f"{name} = ?" for name in alike)
    found = connection.execute(
        f"SELECT * FROM {entity.table} WHERE {where}", [then[name] for name in alike]
    ).fetchone()
    if found is None or entity.id_of(dict(found)) == entity.id_of(then):
        return None
    other, one = entity.id_of(dict(found)), entity.id_of(then)
    reason = f"{entity.name} {one} had the {column} {then[column]!r}, which {other} has now"
    return Conflict(entity.name, one, reason, with_row=(entity.name, other))


def dangling(
    connection: Connection,
    entity: Entity,
    now: dict[str, Any] | None,
    then: dict[str, Any] | None,
) -> Iterator[Conflict]:
    """What a row that went is still needed for, and what a row that came back would need."""
    if then is None and now is not None:
        yield from _still_needed(connection, entity, now)
    if now is None and then is not None:
        yield from _missing(connection, entity, then)


def _still_needed(
    connection: Connection, entity: Entity, gone: dict[str, Any]
) -> Iterator[Conflict]:
    for other in ENTITIES.values():
        for column, table, to in _references(connection, other):
            if table != entity.table:
                continue
            rows = connection.execute(
                f"SELECT * FROM {other.table} WHERE {column} = ?", (gone[to],)
            )
            for row in rows:
                reason = (
                    f"{entity.name} {gone.get('label', entity.id_of(gone))!r} would go, but"
                    f" {other.name} {other.id_of(dict(row))!r} needs it"
                )
                needing = (other.name, other.id_of(dict(row)))
                yield Conflict(entity.name, entity.id_of(gone), reason, with_row=needing)


def _missing(connection: Connection, entity: Entity, back: dict[str, Any]) -> Iterator[Conflict]:
    for column, table, to in _references(connection, entity):
        value = back[column]
        if value is None:
            continue
        found = connection.execute(f"SELECT 1 FROM {table} WHERE {to} = ?", (value,)).fetchone()
        if found is None:
            reason = (
                f"{entity.name} {entity.id_of(back)!r} would come back, but {value} is no longer"
                " there"
            )
            yield Conflict(entity.name, entity.id_of(back), reason)


def _references(connection: Connection, entity: Entity) -> list[tuple[str, str, str]]:
    """(column, table, column there) of what an entity's rows refer to."""
    rows = connection.execute(f"PRAGMA foreign_key_list({entity.table})")
    return [(row["from"], row["table"], row["to"]) for row in rows]


def _touches(event: Event, column: str) -> bool:
    return "changed" not in event.change or column in event.change["changed"]
