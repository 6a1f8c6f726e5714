"""Compressing the long texts of old events. They are read as before: by Event.of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.consolidation.session import ConsolidationChange
from dcf.memory.database import Connection, packed

AT_ONCE = 10_000
"""Events that one session compresses; the next ones are the next session's."""
AT_ONCE_SIZE = 64_000_000
"""Characters of their changes, about: they are in memory until the session is done."""


@dataclass(frozen=True, slots=True)
class Packed:
    """An event with its long texts taken out. Sizes are bytes."""

    seq: int
    label: str | None
    change: str
    value: bytes
    before: int

    @property
    def after(self) -> int:
        return len(self.change.encode()) + len(self.value)


def compressed(rows: Iterable[Mapping[str, Any]], level: int) -> list[Packed]:
    """Those events (seq, label, change) that become smaller."""
    found = []
    for row in rows:
        change, value = packed(json.loads(row["change"]), level)
        text = json.dumps(change, ensure_ascii=False)
        one = Packed(row["seq"], row["label"], text, value, len(row["change"].encode()))
        if one.after < one.before:
            found.append(one)
    return found


def write_packed(connection: Connection, events: Sequence[Packed]) -> list[Packed]:
    """Compress the events in the file; those that were there and not compressed yet."""
    done = []
    for one in events:
        cursor = connection.execute(
            "UPDATE events SET change = ?, packed = ? WHERE seq = ? AND packed IS NULL",
            (one.change, one.value, one.seq),
        )
        if cursor.rowcount:
            done.append(one)
    return done


def changes_of(events: Sequence[Packed]) -> list[ConsolidationChange]:
    """What compressing them did, for each block and for all that is no block."""
    by_label: defaultdict[str | None, list[Packed]] = defaultdict(list)
    for one in events:
        by_label[one.label].append(one)
    return [
        ConsolidationChange(
            "compress",
            label,
            sum(one.before for one in those),
            sum(one.after for one in those),
            f"{len(those)} old events have long texts; they read as before",
        )
        for label, those in by_label.items()
    ]
