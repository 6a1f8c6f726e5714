"""Where texts stand in the memory file, and what becomes of a row that names a subject."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dcf.memory import entities as known
from dcf.memory.audit.entity import Entity, Row
from dcf.memory.checking import json_of
from dcf.memory.forgetting.readings import OURS
from dcf.memory.forgetting.subject import Subject, data_in
from dcf.memory.nodes.fields import address_of

MARK = "[forgotten]"
"""What a row has in place of a text that went, where the row stays."""
_STRUCTURE = frozenset({"kind", "id", "tool", "name"})
"""Keys of the parts of a message and of the tools of a turn whose texts say what they are."""

READ = Entity(
    "read of a node",
    "node_reads",
    key=("seq",),
    names=frozenset({"by_name", "node", "source"}),
    codes=frozenset({"by_kind", "operation", "node_id", "source_id"}),
)

RECEIPT = Entity(
    "receipt",
    "receipts",
    key=("id",),
    names=frozenset({"by_name"}),
    codes=frozenset({"id", "about", "by_kind"}),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Rows of ``entity``. Each is an entry that goes as a whole, unless it ``stays``: because
    others refer to it, or because it says that something was done, which is not done again. Of
    columns in ``lines`` only the lines go, those in ``whole`` go together, of others each by
    itself."""

    entity: Entity
    stays: bool = False
    lines: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def key_of(self, row: Row) -> tuple[Any, ...]:
        """What says which row it is."""
        return tuple(row[column] for column in self.entity.key)

    def is_named_in(self, row: Row, subject: Subject) -> bool:
        """Whether a text of the row names the subject, or one of its names does."""
        return any(subject.is_named_in(row[column]) for column in self.columns(row))

    def columns(self, row: Row) -> list[str]:
        """The columns of a row that have what somebody wrote."""
        codes = self.ids
        return [name for name, value in row.items() if isinstance(value, str) and name not in codes]

    @property
    def ids(self) -> frozenset[str]:
        """The columns of a row that others refer to, or that say what kind of row it is."""
        return (self.entity.codes - self.entity.names) | {"id"}

    def emptied(self, row: Row, subject: Subject, salt: str) -> dict[str, Any]:
        """The row without what names the subject: other names, no texts; only the lines where those
        are the entries."""
        together = any(subject.is_named_in(row.get(name, "")) for name in self.whole)
        after = dict(row)
        for name in self.columns(row):
            value = row[name]
            if name in self.entity.names:
                after[name] = renamed(value, subject, salt)
            elif name in self.lines:
                after[name] = _without_lines(value, subject)
            elif together and name in self.whole:
                after[name] = _without_texts(value, subject)
            elif subject.is_named_in(value):
                after[name] = without_leaves(value, subject)
        if self.entity is known.NODE and row["checkpoint"]:
            after["address"] = address_of(after["project"], after["checkpoint"], after["name"])
        return after

    def tombstone(self, row: Row) -> dict[str, Any]:
        """The row of an entry without anything that was written: what the event says that removed
        it."""
        after = {name: _nothing(value) for name, value in row.items()}
        for name in (*self.entity.key, *self.entity.codes):
            if name in row:
                after[name] = row[name]
        if "revision" in row:
            # Whoever saw the entry saw an earlier one.
            after["revision"] = row["revision"] + 1
        return after


PLACES: tuple[Place, ...] = (
    Place(known.OBSERVATION_USE),
    Place(known.OCCURRENCE, stays=True),
    Place(known.OBSERVATION),
    Place(known.OBSERVED_EVENT),
    Place(known.EXTRACTION_EVENT),
    Place(known.EXTRACTION_REQUEST),
    Place(known.EXTRACTION_STANDING, stays=True),
    Place(known.PLAYBOOK, stays=True),
    Place(known.NODE_ENTRY),
    Place(known.NODE, stays=True, whole=frozenset({"title", "metadata"})),
    Place(READ),
    Place(RECEIPT, stays=True),
    Place(known.THREAD_TURN, stays=True, whole=frozenset({"text", "tools"})),
    Place(known.THREAD, stays=True),
    Place(known.THREAD_FILE),
    Place(known.DOCUMENT_PIECE),
    Place(known.DOCUMENT),
    Place(known.CONSOLIDATION, stays=True),
    Place(known.SKILL),
    Place(known.SCRATCH_PAD, stays=True),
    Place(known.SESSION, stays=True),
    Place(known.ATTACHED_TOOL),
    Place(known.TURN, stays=True),
    Place(known.LETTER),
    Place(known.PASSAGE),
    Place(known.MESSAGE, stays=True, whole=frozenset({"content", "parts"})),
    Place(known.PROJECT_AGENT, stays=True),
    Place(known.PROJECT_BLOCK, stays=True),
    Place(known.HOLDER, stays=True),
    Place(known.PROJECT, stays=True),
    Place(known.BLOCK, stays=True, lines=frozenset({"value"})),
    Place(known.AGENT, stays=True, lines=frozenset({"system"})),
)
"""All tables with texts that somebody wrote, but for the record of changes; what refers to others
first."""
PLACE_OF: Mapping[str, Place] = {one.entity.name: one for one in PLACES}


def renamed(value: str, subject: Subject, salt: str) -> str:
    """``value``, or the name that stands for it everywhere if it names the subject."""
    if not subject.is_named_in(value):
        return value
    # A digest without a salt is found by trying names.
    digest = hashlib.sha256(f"{salt}\n{value}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"forgotten-{digest[:12]}"


def without_leaves(value: str, subject: Subject) -> str:
    """``value`` with a mark in place of a text that names the subject: all of it, or a leaf of its
    JSON."""
    return _marked(value, subject, lambda text: MARK if subject.is_named_in(text) else text)


def _without_texts(value: str, subject: Subject) -> str:
    """``value`` with a mark in place of each text; of data in a list it is still known what each
    part of it is."""
    return _marked(value, subject, lambda _: MARK, _STRUCTURE) if value else ""


def _without_lines(value: str, subject: Subject) -> str:
    """``value`` without the lines that name the subject; those of JSON may name it with escapes."""
    left = subject.without_lines(value)
    if subject.is_named_in(left) and data_in(left) is None:
        left = "\n".join(line for line in left.split("\n") if not subject.is_named_in(line))
    return without_leaves(left, subject) if subject.is_named_in(left) else left


def _marked(
    value: str,
    subject: Subject,
    said: Callable[[str], str],
    plain: frozenset[str] = frozenset(),
) -> str:
    """``value`` with what ``said`` makes of the leaves of its JSON, but for ``plain`` keys of
    its parts. All of it goes where that is not enough, or cannot be done."""

    def change(data: Any) -> Any:
        match data:
            case str():
                return said(data)
            case dict():
                return {key_of(key): change(one) for key, one in data.items()}
            case list():
                return [*map(change, data)]
            case int() | float() if data is not True and data is not False:
                # Where a number has to be, it is still one.
                return 0 if subject.is_named_in(str(data)) else data
        return data

    def key_of(key: str) -> str:
        return MARK if subject.is_named_in(key) else key

    def part(data: Any) -> Any:
        if not isinstance(data, dict):
            return change(data)
        stay = {key for key in plain & data.keys() if not subject.is_named_in(data[key])}
        return {
            key if key in OURS else key_of(key): one if key in stay else change(one)
            for key, one in data.items()
        }

    data = data_in(value)
    if data is None:
        return MARK
    nothing = json.dumps(type(data)())
    try:
        after = json_of([*map(part, data)] if isinstance(data, list) else change(data))
        after.encode()
    except (ValueError, RecursionError):
        # No text that is kept: half a pair of surrogates, NaN, or too deep.
        return nothing
    return nothing if subject.is_named_in(after) else after


def _nothing(value: Any) -> Any:
    if isinstance(value, str):
        data = data_in(value)
        return "" if data is None else json.dumps(type(data)())
    return b"" if isinstance(value, bytes) else value


def told_of(event: Row, subject: Subject, salt: str) -> dict[str, str | None]:
    """What an event says beside what changed, without what names the subject: ids stay."""
    place = PLACE_OF.get(event["entity"])
    columns = () if place is None else place.entity.key
    # As ``Entity.id_of`` joins them; only the last one may have a slash.
    parts = event["entity_id"].split("/", max(len(columns) - 1, 0))
    names = frozenset[str]() if place is None else place.entity.names - place.ids
    called = [
        renamed(part, subject, salt) if column in names else part
        for column, part in zip(columns, parts, strict=False)
    ]
    label = event["label"]
    return {
        "actor": renamed(event["actor"], subject, salt),
        "reason": "" if subject.is_named_in(event["reason"]) else event["reason"],
        "label": None if label is None else renamed(label, subject, salt),
        "entity_id": "/".join(called) if called else event["entity_id"],
    }


def is_change_named(event: Row, change: Mapping[str, Any], subject: Subject) -> bool:
    """Whether what an event did names the subject: texts and names of rows, not their ids."""
    place = PLACE_OF.get(event["entity"])
    for kind, what in change.items():
        if kind == "changed":
            if any(map(_differs_by(subject), what.values())):
                return True
        elif isinstance(what, Mapping):
            said = subject.is_named_in(list(what.values()))
            if said if place is None else place.is_named_in(what, subject):
                return True
    return False


def _differs_by(subject: Subject) -> Callable[[Any], bool]:
    def is_named(difference: Any) -> bool:
        edit = isinstance(difference, Mapping)
        sides = (difference["removed"], difference["added"]) if edit else difference
        return any(subject.is_named_in(side) for side in sides)

    return is_named
