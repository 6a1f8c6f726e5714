"""Changing rows so that every change is recorded in the same transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dcf.memory.actor import Actor
from dcf.memory.audit.change import Change, change_between
from dcf.memory.audit.clean_text import clean
from dcf.memory.audit.entity import Entity, Row, Turn
from dcf.memory.audit.event import Event
from dcf.memory.database import Connection
from dcf.memory.ids import NewId

Follower: TypeAlias = Callable[[Connection, Entity, Sequence[Turn]], None]
"""Called with the entity and the rows of recorded changes that were made at once, in their
transaction: keeps what is derived from rows, such as a search index."""


@dataclass(frozen=True, slots=True)
class Journal:
    """Writes rows and events for one transaction. ``at`` is its time; all that a consolidation does
    carries its id; ``noted`` are its events so far."""

    connection: Connection
    at: int
    by: Actor
    new_id: NewId
    followers: tuple[Follower, ...] = ()
    consolidation_id: str | None = None
    noted: list[Event] = field(default_factory=list)

    def create(
        self,
        entity: Entity,
        row: Row,
        *,
        operation: str = "created",
        agent_id: str | None = None,
        label: str | None = None,
    ) -> dict[str, Any]:
        """Add ``row``; as it is kept. Raises InvalidEntry."""
        kept = entity.insert(self.connection, row)
        self.note(entity, None, kept, operation=operation, agent_id=agent_id, label=label)
        return kept

    def create_all(
        self, entity: Entity, rows: Sequence[Row], *, agent_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Add ``rows``, as ``create`` each of them; followers hear of all of them at once, which
        takes the index of words less time. Raises InvalidEntry."""
        kept = [entity.insert(self.connection, row) for row in rows]
        self._follow(entity, [(None, row) for row in kept])
        for row in kept:
            self._record(entity, None, row, operation="created", agent_id=agent_id, label=None)
        return kept

    def update(
        self,
        entity: Entity,
        before: Row,
        after: Row,
        *,
        agent_id: str | None = None,
        label: str | None = None,
    ) -> dict[str, Any] | None:
        """Write ``after`` over ``before``; as it is kept, None if they are the same. Raises
        InvalidEntry."""
        after = entity.cleaned(after, before)
        change = change_between(entity, before, after)
        if change is None:
            return None
        kept = entity.replace(self.connection, after, after)
        self.note(
            entity,
            before,
            kept,
            operation="updated",
            agent_id=agent_id,
            label=label,
            change=change,
        )
        return kept

    def delete(
        self,
        entity: Entity,
        row: Row,
        *,
        operation: str = "deleted",
        agent_id: str | None = None,
        label: str | None = None,
    ) -> int:
        """Remove ``row``; the event's number."""
        entity.delete(self.connection, row)
        return self.note(entity, row, None, operation=operation, agent_id=agent_id, label=label)

    def note(
        self,
        entity: Entity,
        before: Row | None,
        after: Row | None,
        *,
        operation: str,
        agent_id: str | None,
        label: str | None,
        back_to: int | None = None,
        change: Change | None = None,
    ) -> int:
        """Record that a row changed; the event's number. The caller has changed it, and may know
        the ``change`` already."""
        self._follow(entity, [(before, after)])
        return self._record(
            entity,
            before,
            after,
            operation=operation,
            agent_id=agent_id,
            label=label,
            back_to=back_to,
            change=change,
        )

    def _follow(self, entity: Entity, turns: Sequence[Turn]) -> None:
        for follow in self.followers:
            follow(self.connection, entity, turns)

    def _record(
        self,
        entity: Entity,
        before: Row | None,
        after: Row | None,
        *,
        operation: str,
        agent_id: str | None,
        label: str | None,
        back_to: int | None = None,
        change: Change | None = None,
    ) -> int:
        some = after if after is not None else before
        if some is None:
            raise ValueError("an event needs a row before or after it")
        change = change or change_between(entity, before, after) or {"changed": {}}
        event = {
            "at": self.at,
            "actor_kind": self.by.kind,
            "actor": clean(self.by.name),
            "reason": clean(self.by.reason),
            "operation": operation,
            "entity": entity.name,
            "entity_id": entity.id_of(some),
            "agent_id": agent_id,
            "label": label,
            "change": json.dumps(change, ensure_ascii=False),
            "consolidation_id": self.consolidation_id,
            "back_to": back_to,
        }
        cursor = self.connection.execute(
            f"INSERT INTO events ({', '.join(event)}) VALUES ({', '.join('?' * len(event))})",
            tuple(event.values()),
        )
        seq = int(cursor.lastrowid or 0)
        self.noted.append(Event.of({**event, "seq": seq, "change": change}))
        return seq
