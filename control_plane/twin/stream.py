"""The stream: entries under growing ids, and its consumer groups."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import Any

from control_plane.errors import ServerError
from control_plane.twin.numbers import U64_MAX

EntryId = tuple[int, int]
Fields = tuple[str, ...]

LOWEST: EntryId = (0, 0)
HIGHEST: EntryId = (U64_MAX, U64_MAX)

BAD_ID = "ERR Invalid stream ID specified as stream command argument"


def parse_id(text: str, default_sequence: int = 0) -> EntryId:
    """``5-3`` or ``5``. Raises ServerError."""
    milliseconds, dash, sequence = text.partition("-")
    return _part(milliseconds), _part(sequence) if dash else default_sequence


def _part(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 20 or int(text) > U64_MAX:
        raise ServerError(BAD_ID)
    return int(text)


def print_id(entry_id: EntryId) -> str:
    """``5-3``."""
    return f"{entry_id[0]}-{entry_id[1]}"


def successor(entry_id: EntryId) -> EntryId:
    """The next possible id."""
    return (entry_id[0], entry_id[1] + 1) if entry_id[1] < U64_MAX else (entry_id[0] + 1, 0)


def predecessor(entry_id: EntryId) -> EntryId:
    """The id before ``entry_id``."""
    return (entry_id[0], entry_id[1] - 1) if entry_id[1] else (entry_id[0] - 1, U64_MAX)


@dataclass(slots=True)
class Pending:
    """An entry that was delivered and not acknowledged."""

    consumer: str
    delivered_ms: int
    deliveries: int


@dataclass(slots=True)
class Consumer:
    """A reader of a group: when it asked last, and when it last got anything (ms)."""

    seen_ms: int
    active_ms: int | None = None


@dataclass(slots=True)
class Group:
    """A consumer group. ``entries_read`` is None when it cannot be known."""

    last_id: EntryId
    entries_read: int | None = None
    consumers: dict[str, Consumer] = field(default_factory=dict)
    pending: dict[EntryId, Pending] = field(default_factory=dict)

    def consumer(self, name: str, now_ms: int) -> Consumer:
        """The consumer ``name``, who asks now; a new one if there is none."""
        found = self.consumers.setdefault(name, Consumer(now_ms))
        found.seen_ms = now_ms
        return found

    def copy(self) -> Group:
        """A deep copy."""
        pending = {
            entry_id: Pending(item.consumer, item.delivered_ms, item.deliveries)
            for entry_id, item in self.pending.items()
        }
        return Group(
            self.last_id,
            self.entries_read,
            {name: replace(one) for name, one in self.consumers.items()},
            pending,
        )

    def plain(self) -> dict[str, Any]:
        """For comparing states."""
        return {
            "last_id": print_id(self.last_id),
            "consumers": sorted(self.consumers),
            "pending": {
                print_id(entry_id): (item.consumer, item.delivered_ms, item.deliveries)
                for entry_id, item in sorted(self.pending.items())
            },
        }


class Stream:
    """A stream value. ``fields`` of an entry alternate names and texts."""

    kind = "stream"
    __slots__ = ("_entries", "_ids", "added", "groups", "last_id", "max_deleted_id")

    def __init__(self) -> None:
        self._ids: list[EntryId] = []
        self._entries: dict[EntryId, Fields] = {}
        self.last_id = LOWEST
        self.max_deleted_id = LOWEST
        self.added = 0
        self.groups: dict[str, Group] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def first_id(self) -> EntryId:
        """The id of the first entry, 0-0 when there is none."""
        return self._ids[0] if self._ids else LOWEST

    def get(self, entry_id: EntryId) -> Fields | None:
        """The fields of an entry that was not deleted."""
        return self._entries.get(entry_id)

    def append(self, entry_id: EntryId, fields: Fields) -> None:
        """Add an entry; ``entry_id`` must be greater than ``last_id``."""
        self._ids.append(entry_id)
        self._entries[entry_id] = fields
        self.last_id = entry_id
        self.added += 1

    def ids_between(self, low: EntryId, high: EntryId) -> list[EntryId]:
        """Ids from ``low`` to ``high``, both included."""
        return self._ids[bisect_left(self._ids, low) : bisect_right(self._ids, high)]

    def ids_after(self, entry_id: EntryId, count: int | None) -> list[EntryId]:
        """At most ``count`` ids greater than ``entry_id``."""
        start = bisect_right(self._ids, entry_id)
        return self._ids[start : None if count is None else start + count]

    def delete(self, entry_id: EntryId) -> bool:
        """Delete an entry; whether it was there."""
        if self._entries.pop(entry_id, None) is None:
            return False
        del self._ids[bisect_left(self._ids, entry_id)]
        self.max_deleted_id = max(self.max_deleted_id, entry_id)
        return True

    def trim(self, keep: int) -> int:
        """Drop the oldest entries over ``keep``; how many."""
        excess = max(0, len(self._ids) - keep)
        for entry_id in self._ids[:excess]:
            del self._entries[entry_id]
        del self._ids[:excess]
        return excess

    def copy(self) -> Stream:
        """A deep copy."""
        other = Stream()
        other._ids, other._entries = list(self._ids), dict(self._entries)
        other.last_id, other.max_deleted_id = self.last_id, self.max_deleted_id
        other.added = self.added
        other.groups = {name: group.copy() for name, group in self.groups.items()}
        return other

    def plain(self) -> dict[str, Any]:
        """For comparing states."""
        return {
            "entries": [(print_id(entry_id), self._entries[entry_id]) for entry_id in self._ids],
            "last_id": print_id(self.last_id),
            "groups": {name: group.plain() for name, group in sorted(self.groups.items())},
        }
