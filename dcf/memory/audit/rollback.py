"""Undoing events in one transaction. What is undone is itself recorded, and can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcf.memory.audit.change import ContentForgotten, Overlapped, row_before
from dcf.memory.audit.conflict import (
    Conflict,
    RollbackRefused,
    blame,
    dangling,
    name_taken,
)
from dcf.memory.audit.entity import Entity
from dcf.memory.audit.event import Event
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.entities import ENTITIES


@dataclass(slots=True)
class _Row:
    """A row on its way back. ``undone`` are its events, newest first; ``seen`` is the highest
    revision that it had in them."""

    entity: Entity
    entity_id: str
    now: dict[str, Any] | None
    then: dict[str, Any] | None
    undone: list[Event] = field(default_factory=list)
    stuck: bool = False
    seen: int = 0

    def go_back(self, to: Mapping[str, Any] | None) -> None:
        """Be what the row was before one more event."""
        self.then = None if to is None else dict(to)
        if to is not None:
            self.seen = max(self.seen, to.get("revision", 0))


def roll_back(journal: Journal, events: Sequence[Event]) -> None:
    """Undo ``events``, which come newest first: each row they changed is changed once, back to what
    it was before the oldest of them.

    Raises RollbackRefused with everything that stands in the way; nothing is kept then, because the
    caller's transaction ends with the error. Entries that were forgotten for good stay away.
    """
    connection = journal.connection
    # What refers to what is looked at when all rows are in place, and said by us.
    connection.execute("PRAGMA defer_foreign_keys = ON")
    rows, conflicts = _undone(connection, events)
    changed = [row for row in rows if not row.stuck and row.now != row.then]
    for row in changed:
        row.entity.release(connection, row.now)
    for row in _in_order(changed):
        if row.then is None:
            _take_along(journal, row)
        taken = name_taken(connection, row.entity, row.then)
        if taken is not None:
            conflicts.append(taken)
        else:
            _apply(journal, row)
    stuck = {(row.entity.name, row.entity_id) for row in rows if row.stuck}
    for row in changed:
        conflicts += [
            conflict
            for conflict in dangling(connection, row.entity, row.now, row.then)
            if conflict.with_row not in stuck
        ]
    if conflicts:
        raise RollbackRefused(conflicts)


def _undone(connection: Connection, events: Sequence[Event]) -> tuple[list[_Row], list[Conflict]]:
    rows: dict[tuple[str, str], _Row] = {}
    conflicts: list[Conflict] = []
    for event in events:
        row = _row(connection, rows, event)
        row.undone.append(event)
        if row.stuck:
            continue
        try:
            before = row_before(row.entity, event.change, row.then)
        except ContentForgotten as forgotten:
            row.stuck = True
            # An entry that went for good stays away, and the rest goes back.
            if "deleted" not in event.change:
                conflicts.append(_forgotten(event, forgotten.receipt_id))
        except Overlapped as overlapped:
            row.stuck = True
            conflicts.append(blame(connection, row.undone, overlapped.column))
        else:
            row.go_back(before)
    return list(rows.values()), conflicts


def _forgotten(event: Event, receipt_id: str) -> Conflict:
    what = f"{event.entity} {event.label or event.entity_id!r}"
    reason = f"what {what} was before event {event.seq} is forgotten for good, receipt {receipt_id}"
    return Conflict(event.entity, event.entity_id, reason)


def _row(connection: Connection, rows: dict[tuple[str, str], _Row], event: Event) -> _Row:
    key = (event.entity, event.entity_id)
    if key not in rows:
        entity = ENTITIES[event.entity]
        now = entity.find(connection, event.entity_id)
        rows[key] = _Row(entity, event.entity_id, now, now)
        rows[key].go_back(now)
    return rows[key]


def _in_order(rows: Sequence[_Row]) -> Iterator[_Row]:
    """First what is removed, then what is changed, then what comes back, so that followers see the
    agent before what it holds."""
    order = list(ENTITIES)
    by_entity = sorted(rows, key=lambda row: order.index(row.entity.name))
    yield from (row for row in reversed(by_entity) if row.then is None)
    yield from (row for row in by_entity if row.now is not None and row.then is not None)
    yield from (row for row in by_entity if row.now is None)


def _apply(journal: Journal, row: _Row) -> None:
    entity, now = row.entity, row.now
    if row.then is None:
        entity.delete(journal.connection, now or {})
    else:
        then = _counted_on(entity, row.then, row.seen, journal.at)
        write = entity.insert if now is None else entity.replace
        row.then = write(journal.connection, then)
    oldest = row.undone[-1]
    journal.note(
        entity,
        now,
        row.then,
        operation="rolled_back",
        agent_id=oldest.agent_id,
        label=oldest.label,
        back_to=oldest.seq - 1,
    )


def _take_along(journal: Journal, row: _Row) -> None:
    """What belongs to an agent that goes, and was made without an event, goes with it."""
    if row.entity.name != "agent":
        return
    oldest = row.undone[-1]
    for entity in reversed(list(ENTITIES.values())):
        for own in entity.of_owner(journal.connection, row.entity_id):
            entity.delete(journal.connection, own)
            journal.note(
                entity,
                own,
                None,
                operation="rolled_back",
                agent_id=row.entity_id,
                label=None,
                back_to=oldest.seq - 1,
            )


def _counted_on(entity: Entity, then: dict[str, Any], seen: int, at: int) -> dict[str, Any]:
    """``then`` with what only counts on: whoever saw any revision has not seen this one, even of a
    row that comes back."""
    counted = {**then}
    if "revision" in entity.own and "revision" in then:
        counted["revision"] = seen + 1
    if "updated_at" in entity.own and "updated_at" in then:
        counted["updated_at"] = at
    return counted
