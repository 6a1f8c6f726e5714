"""All that names a subject in the memory file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dcf.citation import Citation
from dcf.memory.audit.change import FORGOTTEN, Overlapped, row_before
from dcf.memory.audit.entity import Row
from dcf.memory.audit.history import Query, newest_first
from dcf.memory.database import Connection, unpacked
from dcf.memory.entities import ENTITIES
from dcf.memory.forgetting.places import PLACES, Place, is_change_named, told_of
from dcf.memory.forgetting.subject import Subject
from dcf.memory.observations.rendering import short_id
from dcf.memory.receipt import Mention

_EDITED = [one.name for one in ENTITIES.values() if one.long]


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A row of a place, by its key."""

    place: Place
    key: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NamedHistory:
    """A row that was changed, and whose events say what named the subject."""

    entity: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class NamedEvent:
    """An event that names the subject beside what changed."""

    seq: int


Named: TypeAlias = NamedRow | NamedHistory | NamedEvent


def named(connection: Connection, subject: Subject) -> Iterator[tuple[Named, Mention]]:
    """Everything in which the subject is named, each once."""
    for place in PLACES:
        for row in _rows(connection, place):
            if place.is_named_in(row, subject):
                yield NamedRow(place, place.key_of(row)), mention_of(place, row)
    known: dict[NamedHistory, None] = {}
    for event in connection.execute("SELECT * FROM events ORDER BY seq"):
        told = told_of(event, subject, "")
        if any(told[name] != event[name] for name in told):
            yield NamedEvent(event["seq"]), Mention("event", str(event["seq"]))
        # What is packed is looked into: it is compressed.
        worth = event["packed"] is not None or subject.may_be_named_in(event["change"])
        if worth and is_change_named(event, change_in(event), subject):
            known[NamedHistory(event["entity"], event["entity_id"])] = None
    for one in _edited(connection):
        if one not in known and _was_named(connection, one, subject):
            known[one] = None
    for one in known:
        yield one, Mention(f"history of {one.entity}", one.entity_id)


def change_in(event: Row) -> Mapping[str, Any]:
    """What an event of a row of ``events`` did."""
    change: Mapping[str, Any] = unpacked(json.loads(event["change"]), event["packed"])
    return change


def mention_of(place: Place, row: Row) -> Mention:
    """The row, as it is cited."""
    name = place.entity.name
    ref = place.entity.id_of(row)
    citation = None
    if name in ("passage", "entry"):
        citation = Citation("memory", ref)
    elif name == "observation":
        citation = Citation("observation", short_id(ref))
    elif name == "message":
        citation = Citation("agent", row["agent_id"], "message", str(row["seq"]))
    elif name == "turn of a thread":
        citation = Citation("thread", row["thread_id"], "turn", number=row["number"])
    elif name == "document":
        citation = Citation("document", ref)
    elif name == "playbook":
        citation = Citation("playbook", ref)
    return Mention(name, ref, None if citation is None else str(citation))


def _rows(connection: Connection, place: Place) -> Iterator[dict[str, Any]]:
    return map(dict, connection.execute(f"SELECT * FROM {place.entity.table}"))


def _edited(connection: Connection) -> list[NamedHistory]:
    """Rows with long texts that were changed in parts: none of the parts may name it, and the text
    did."""
    rows = connection.execute(
        "SELECT DISTINCT entity, entity_id FROM events WHERE change -> '$.changed' IS NOT NULL"
        " AND entity IN (SELECT value FROM json_each(?))",
        (json.dumps(_EDITED),),
    )
    return [NamedHistory(*row) for row in rows]


def _was_named(connection: Connection, one: NamedHistory, subject: Subject) -> bool:
    """Whether a text that the row had names the subject, as far as events say what it was."""
    entity = ENTITIES[one.entity]
    row: Row | None = entity.find(connection, one.entity_id)
    query = Query(entity=one.entity, entity_id=one.entity_id)
    for event in newest_first(connection, query):
        if FORGOTTEN in event.change:
            return False
        try:
            row = row_before(entity, event.change, row)
        except Overlapped:
            return False
        if row is not None and any(subject.is_named_in(row[name]) for name in entity.long):
            return True
    return False
