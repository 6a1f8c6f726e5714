"""What the memory gives up, when, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

_DAY = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Retention:
    """How long and how much is kept; None is for ever, and without a limit. Times are in ms.

    Events are given up oldest first: those older than ``events_ms``, those above ``most_events``,
    and, while the file is larger than ``most_bytes``, still older ones than the newest
    ``least_events``. Letters count from their end, turns too (and a turn stays as long as its
    letter), sessions and scratch pads from theirs. Archived messages go ``archived_messages_ms``
    after they were archived; of passages each agent keeps ``most_passages``: the least salient,
    and of those the least read and oldest, go first. Messages and passages that history can still
    bring back or take back stay until it no longer can. A consolidation stays on record as long as
    it could be undone, and the last one of each agent that is there stays anyway. Blocks that
    nobody holds and no project has go, with an event, ``orphan_blocks_ms`` after their last change.
    """

    events_ms: int | None = 180 * _DAY
    most_events: int | None = 1_000_000
    least_events: int = 1_000
    letters_ms: int | None = 30 * _DAY
    turns_ms: int | None = 90 * _DAY
    sessions_ms: int | None = 90 * _DAY
    scratch_pads_ms: int | None = 30 * _DAY
    consolidations_ms: int | None = 180 * _DAY
    orphan_blocks_ms: int | None = 30 * _DAY
    archived_messages_ms: int | None = None
    most_passages: int | None = None
    most_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Garbage:
    """Of one ``kind`` (``events``, ``event_details``, ``letters``, ``turns``, ``messages``,
    ``passages``, ``sessions``, ``scratch_pads``, ``expired_scratch_pads``, ``consolidations`` or
    ``orphan_blocks``): how many rows, and how many bytes of text they have. The last event of a row
    that is there is not given up, but its details are: what it changed."""

    kind: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What was given up, or with ``dry_run`` what would be. ``border`` is the newest event that is
    no longer there afterwards (0: none was ever given up): a rollback goes back to it, and no
    further. ``file_bytes`` are the sizes of the file before and after; ``over_bytes`` by how much
    it is still larger than it may be."""

    dry_run: bool
    garbage: tuple[Garbage, ...]
    border: int
    file_bytes: tuple[int, int]
    over_bytes: int = 0

    @property
    def count(self) -> int:
        """Rows in all."""
        return sum(one.count for one in self.garbage)

    @property
    def bytes(self) -> int:
        """Bytes of text in all."""
        return sum(one.bytes for one in self.garbage)
