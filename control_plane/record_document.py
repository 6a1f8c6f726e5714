"""A record, typed: who or what it is about, its revision, and its members."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from control_plane import payload
from control_plane.errors import BadName, PayloadTooLarge
from control_plane.payload import JSON

MEMBER_LIMIT = 4 * 1024 * 1024
"""Bytes of one member of a record."""

_MEMBER = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,256}")


def check_record_name(name: str) -> str:
    """``name`` itself. Raises BadName for one that is empty, long, or has control characters."""
    if not _NAME.fullmatch(name):
        rule = "1 to 256 characters, none of them a control character"
        raise BadName(what="name", value=name, rule=rule)
    return name


@dataclass(frozen=True, slots=True)
class RecordDocument:
    """A record, or those members of it that were asked for. ``incarnation`` tells it from others
    that had its ``id``; times are ms since the epoch, by Redis's clock."""

    ID_MEMBER: ClassVar[str]
    """What the document calls its id."""

    id: str
    name: str
    tags: tuple[str, ...]
    revision: int
    incarnation: str
    created_at: int
    updated_at: int
    record: dict[str, JSON] = field(hash=False)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """The document in ``raw``, what is stored under its key."""
        return cls(
            id=raw[cls.ID_MEMBER],
            name=raw["name"],
            tags=tuple(raw["tags"]),
            revision=int(raw["revision"]),
            incarnation=raw["ctl"]["incarnation"],
            created_at=int(raw["created_at"]),
            updated_at=int(raw["updated_at"]),
            record={name: payload.decode(value) for name, value in raw["record"].items()},
        )

    @classmethod
    def text(cls, id_: str, name: str, tags: Sequence[str], record: Mapping[str, JSON]) -> str:
        """The text of a new document, without what the script adds. Raises BadDocument, BadName."""
        members = ",".join(
            f"{json.dumps(check_member(member))}:{stored(value)}"
            for member, value in record.items()
        )
        head = payload.to_text({cls.ID_MEMBER: id_, "name": name, "tags": list(tags)})
        return f'{head[:-1]},"record":{{{members}}}}}'


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What a change writes, all of it or nothing: ``members`` of the record, whole, and the
    ``events`` that say so. ``asked`` are approvals to be listed, with when they were asked for
    (ms), ``settled`` those that are over. ``name`` and ``tags`` stay as they are when None.
    ``closing`` lets the events pass although the history is full: they end what the record tells.
    """

    events: Sequence[Mapping[str, JSON]] = ()
    members: Mapping[str, JSON] = field(default_factory=dict)
    name: str | None = None
    tags: Sequence[str] | None = None
    asked: Mapping[str, int] = field(default_factory=dict)
    settled: Sequence[str] = ()
    closing: bool = False

    def writes(self) -> list[str]:
        """Pairs of a path in the document and a JSON text. Raises BadDocument, BadName."""
        texts = []
        if self.name is not None:
            texts += ["$.name", payload.to_text(check_record_name(self.name))]
        if self.tags is not None:
            texts += ["$.tags", payload.to_text(list(self.tags))]
        for member, value in self.members.items():
            texts += [f"$.record.{check_member(member)}", stored(value)]
        return texts


def check_member(member: str) -> str:
    """``member`` itself. Raises BadName unless it can stand in a path."""
    if not _MEMBER.fullmatch(member):
        raise BadName(what="member of a record", value=member, rule="a-z 0-9 _, a letter first")
    return member


def stored(value: JSON) -> str:
    """``value`` as it is stored in a record. Raises BadDocument, PayloadTooLarge over 4 MiB."""
    content = payload.encode(value, inline_limit=MEMBER_LIMIT)
    if content.blob is not None:
        raise PayloadTooLarge(size=content.size, limit=MEMBER_LIMIT, reason="too large")
    return content.stored
