"""Kinds of records: what one is called, how its keys are named, how much history it keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Generic, TypeVar

from control_plane.errors import BadName, RecordBusy, RecordExists, RecordFull, UnknownRecord
from control_plane.record_document import RecordDocument

D = TypeVar("D", bound=RecordDocument)

# Such an id would name another record's history.
_HISTORY = ":history"


@dataclass(frozen=True, slots=True)
class RecordKind(Generic[D]):
    """One kind of record. ``noun`` is what people call it, ``place`` the prefix of the keys of one
    record and ``index`` that of the keys about all; ``suffix`` ends the key of the document.

    ``newest`` entries of a history are kept, or all of it up to ``most`` entries: a change with
    events is refused then. Exactly one of both is given. Mere notes are refused from ``notes``
    entries on, if that is given, so that what changes the record finds room.
    """

    noun: str
    document: type[D]
    place: str
    index: str
    ids: str
    rule: str
    unknown: type[UnknownRecord]
    exists: type[RecordExists]
    busy: type[RecordBusy]
    full: type[RecordFull] = RecordFull
    suffix: str = ""
    newest: int | None = None
    most: int | None = None
    notes: int | None = None

    def check_id(self, record_id: str) -> str:
        """``record_id`` itself. Raises BadName for what cannot be an id of this kind."""
        if not re.fullmatch(self.ids, record_id) or record_id.endswith(_HISTORY):
            raise BadName(what=f"{self.noun} id", value=record_id, rule=self.rule)
        return record_id

    def event(self, verb: str) -> str:
        """The type of an event in the life of a record, such as ``AgentCreated``."""
        return f"{self.noun.capitalize()}{verb}"


@dataclass(frozen=True, slots=True)
class RecordKeys:
    """The keys of one record. With ``cluster`` all of a kind share a slot, since a script that
    makes one writes the index of names too."""

    place: str
    all_of: str
    record_id: str
    suffix: str = ""
    cluster: bool = False

    @property
    def document(self) -> str:
        return self._one + self.suffix

    @property
    def history(self) -> str:
        return self._one + _HISTORY

    @property
    def names(self) -> str:
        return self.index_key("names")

    @property
    def index(self) -> str:
        return self.index_key("index")

    def gone(self, call: str) -> str:
        return self.index_key(f"gone:{call}")

    @property
    def kept(self) -> str:
        return self.index_key(f"kept:{self.record_id}")

    def index_key(self, name: str) -> str:
        """A key about all records; no record's document can have it."""
        tag = f"{{{self.place}}}:" if self.cluster else ""
        return f"cp:{self.all_of}:{tag}{name}"

    @property
    def _one(self) -> str:
        place = f"{{{self.place}}}" if self.cluster else self.place
        return f"cp:{place}:{self.record_id}"
