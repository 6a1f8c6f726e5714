"""Taking out what names a subject, row by row, in the transaction of a journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dcf.memory.audit.change import FORGOTTEN
from dcf.memory.audit.edit import Edit, digest_of
from dcf.memory.audit.entity import Entity, Row
from dcf.memory.audit.journal import Journal
from dcf.memory.entities import DOCUMENT, DOCUMENT_PIECE, ENTITIES, OCCURRENCE, THREAD, THREAD_TURN
from dcf.memory.forgetting.finding import Named, NamedEvent, NamedHistory, NamedRow, change_in
from dcf.memory.forgetting.places import PLACE_OF, Place, renamed, told_of
from dcf.memory.forgetting.subject import Subject
from dcf.memory.receipt import Fate, Tombstone, digest_of_data
from dcf.memory.search.indexing import follow_search, forget_old, index_new

_LOGS = frozenset({"message", "letter", "turn", "session", "scratch pad"})
"""Entities whose rows change without an event."""
STORE = "memory"


@dataclass(slots=True)
class Leaving:
    """What names the ``subject`` leaves, under a receipt; ``tombstones`` say what did."""

    journal: Journal
    subject: Subject
    receipt_id: str
    tombstones: list[Tombstone] = field(default_factory=list)

    def leave(self, named: Named) -> None:
        """Take it out, unless another one has done so meanwhile."""
        match named:
            case NamedRow(place, key):
                self._row(place, key)
            case NamedHistory(entity, entity_id):
                self._history(entity, entity_id)
            case NamedEvent(seq):
                self._event(seq)

    def _row(self, place: Place, key: tuple[Any, ...]) -> None:
        row = self._found(place, key)
        if row is None or not place.is_named_in(row, self.subject):
            return
        if place.entity.name in ENTITIES:
            self._history(place.entity.name, place.entity.id_of(row))
        if place.stays:
            self._empty(place, row)
        else:
            self._remove(place, row)

    def _found(self, place: Place, key: tuple[Any, ...]) -> dict[str, Any] | None:
        where = " AND ".join(f"{column} = ?" for column in place.entity.key)
        found = self.journal.connection.execute(
            f"SELECT * FROM {place.entity.table} WHERE {where}", key
        ).fetchone()
        return None if found is None else dict(found)

    def _remove(self, place: Place, row: dict[str, Any]) -> None:
        connection, entity = self.journal.connection, place.entity
        if entity is DOCUMENT:
            self._pieces("document_id = :document_id", {"document_id": row["id"]})
        if entity is DOCUMENT_PIECE:
            self._pieces("document_id = :document_id AND number = :number", row)
            connection.execute(
                "UPDATE documents SET pieces = pieces - 1 WHERE id = ?", (row["document_id"],)
            )
        entity.delete(connection, row)
        if entity.name in ENTITIES and entity.name not in _LOGS:
            change = {"deleted": place.tombstone(row), FORGOTTEN: self.receipt_id}
            self._note(place, row, None, change)
        else:
            self._follow(entity, row, None)
        self._keep(entity.name, entity.id_of(row), "removed", row)

    def _pieces(self, which: str, row: Row) -> None:
        """Take pieces of a document out of the index and the file."""
        connection = self.journal.connection
        seen = which.replace("number =", "seq =")
        rows = connection.execute(f"SELECT * FROM searched_pieces WHERE {seen}", row).fetchall()
        forget_old(connection, "document", [dict(one) for one in rows])
        connection.execute(f"DELETE FROM document_pieces WHERE {which}", row)

    def _empty(self, place: Place, row: dict[str, Any]) -> None:
        connection, entity = self.journal.connection, place.entity
        after = place.emptied(row, self.subject, self.receipt_id)
        for column, step in (("revision", 1), ("updated_at", None)):
            if column in entity.own and column in row:
                after[column] = self.journal.at if step is None else row[column] + step
        changed = {name: value for name, value in after.items() if value != row[name]}
        if changed.keys() <= entity.own:
            return
        seen = self._seen(place, row)
        if seen:
            forget_old(connection, "thread", seen)
        sets = ", ".join(f"{column} = ?" for column in changed)
        where = " AND ".join(f"{column} = ?" for column in entity.key)
        connection.execute(
            f"UPDATE {entity.table} SET {sets} WHERE {where}",
            (*changed.values(), *place.key_of(row)),
        )
        if seen:
            index_new(connection, "thread", self._seen(place, after))
        if entity.name in ENTITIES and entity.name not in _LOGS and entity is not OCCURRENCE:
            self._note(place, row, after, {"changed": _changed(place, row, after)})
        else:
            self._follow(entity, row, after)
        told = set(changed) - entity.names - entity.own
        self._keep(entity.name, entity.id_of(row), "emptied" if told else "renamed", row)

    def _follow(self, entity: Entity, before: Row, after: Row | None) -> None:
        """Let search follow a row without an event; of threads and documents it has other rows."""
        if entity not in (THREAD, DOCUMENT):
            follow_search(self.journal.connection, entity, [(before, after)])

    def _seen(self, place: Place, row: Row) -> list[Row]:
        """The turns of threads that are searched, and stand in this row or below it."""
        if place.entity not in (THREAD, THREAD_TURN):
            return []
        which = "thread_id = :id" if place.entity is THREAD else "id = :id"
        rows = self.journal.connection.execute(
            f"SELECT * FROM searched_turns WHERE {which} ORDER BY seq", {"id": row["id"]}
        )
        return [dict(one) for one in rows]

    def _note(
        self, place: Place, before: Row, after: Row | None, change: Mapping[str, Any]
    ) -> None:
        label = (before if after is None else after).get("label")
        self.journal.note(
            place.entity,
            before,
            after,
            operation=FORGOTTEN,
            agent_id=before.get("agent_id"),
            label=label,
            change={**change, FORGOTTEN: self.receipt_id},
        )

    def _history(self, entity: str, entity_id: str) -> None:
        """Let the events of a row say no longer what it was."""
        rows = self.journal.connection.execute(
            "SELECT * FROM events WHERE entity = ? AND entity_id = ?", (entity, entity_id)
        ).fetchall()
        place = PLACE_OF.get(entity)
        for event in map(dict, rows):
            change = change_in(event)
            after = self._past(place, change)
            if after != change:
                self.journal.connection.execute(
                    "UPDATE events SET change = ?, packed = NULL WHERE seq = ?",
                    (json.dumps(after, ensure_ascii=False), event["seq"]),
                )
                self._keep("event", str(event["seq"]), "history", change)

    def _past(self, place: Place | None, change: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is left of what an event did to a row of ``place`` (None: to rows of several)."""
        if FORGOTTEN in change:
            return change
        mark = {FORGOTTEN: self.receipt_id}
        if "changed" in change:
            return {"changed": {k: _nothing(v) for k, v in change["changed"].items()}, **mark}
        (kind, row), *_ = change.items()
        if place is not None and place.stays:
            # It is undone as what the row is now.
            return {**change, kind: place.emptied(row, self.subject, self.receipt_id)}
        if place is None:
            # The sources of an observation, which name it or go with it.
            return {kind: {k: v for k, v in row.items() if isinstance(v, str)}, **mark}
        return {kind: place.tombstone(row), **mark}

    def _event(self, seq: int) -> None:
        event = self.journal.connection.execute(
            "SELECT * FROM events WHERE seq = ?", (seq,)
        ).fetchone()
        if event is None:
            return
        after = told_of(event, self.subject, self.receipt_id)
        sets = ", ".join(f"{name} = ?" for name in after)
        self.journal.connection.execute(
            f"UPDATE events SET {sets} WHERE seq = ?", (*after.values(), seq)
        )
        self._keep("event", str(seq), "renamed", {name: event[name] for name in after})

    def _renamed(self, value: str) -> str:
        return renamed(value, self.subject, self.receipt_id)

    def _keep(self, kind: str, ref: str, fate: Fate, was: object) -> None:
        said = "/".join(map(self._renamed, ref.split("/", 2)))
        digest = digest_of_data(was)
        self.tombstones.append(Tombstone(STORE, kind, said, fate, digest, self.journal.at))


def _changed(place: Place, before: Row, after: Row) -> dict[str, Any]:
    """What an event says of a row that was emptied: in which columns, and the digests of its long
    texts."""
    entity = place.entity
    differ = {name for name in after if after[name] != before[name]} - entity.own
    pairs: dict[str, Any] = {name: ["", ""] for name in differ - entity.long}
    edits = {name: asdict(Edit(0, "", "", digest_of(after[name]))) for name in entity.long}
    return {**pairs, **edits}


def _nothing(difference: Any) -> Any:
    if isinstance(difference, Mapping):
        return {**difference, "at": 0, "removed": "", "added": ""}
    return ["", ""]
