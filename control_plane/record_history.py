"""The history of a record: a stream in which each digest covers the one before."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence

from control_plane.backend import Backend
from control_plane.errors import CorruptHistory
from control_plane.history import HistoryEvent, link
from control_plane.record_kind import D
from control_plane.records import RecordStore

_BATCH = 500
# Blocking reads stay well under the socket timeout.
_BLOCK_MS = 2_000


async def read_record_history(
    store: RecordStore[D], record_id: str, *, after: str = "-"
) -> AsyncIterator[HistoryEvent]:
    """The events in order, optionally only those after entry ``after``; for a week also those of a
    record that was deleted.

    Raises CorruptHistory when a link does not fit, or the last is not the one that the record
    knows; where nothing is ever dropped also when the first one is missing.
    """
    keys = store.keys(record_id)
    known = await store.backend.command("JSON.GET", keys.document, "$.ctl.digest")
    end = json.loads(known)[0] if known else None
    previous = "" if after == "-" and store.kind.newest is None else None
    start, entry = after if after == "-" else f"({after}", after
    complete = end is None or after != "-"
    while True:
        batch = await store.backend.command("XRANGE", keys.history, start, "+", "COUNT", _BATCH)
        for entry, fields in batch:
            event = _checked(record_id, entry, fields, previous)
            previous = event.digest
            complete = complete or previous == end
            yield event
        if len(batch) < _BATCH:
            break
        start = f"({batch[-1][0]}"
    if not complete:
        raise CorruptHistory(workflow_id=record_id, entry=entry)


class RecordTail:
    """The events of a record as they come: those after entry ``after``, or the ones that are new
    after ``begin``.

    ``reads`` is a backend of its own, since its reads block. A read that was cancelled or broke off
    loses nothing: the next one goes on at ``after``. The tail outlasts the record.
    """

    def __init__(
        self, store: RecordStore[D], record_id: str, *, reads: Backend, after: str | None = None
    ) -> None:
        self.after = after
        self._record_id = record_id
        self._stream = store.keys(record_id).history
        self._reads = reads
        self._previous: str | None = None

    async def begin(self) -> str:
        """Settle where the tail starts; the entry after which it does ("0-0": at the first)."""
        if self.after is None:
            newest = await self._reads.command("XREVRANGE", self._stream, "+", "-", "COUNT", 1)
            self.after = str(newest[0][0]) if newest else "0-0"
        return self.after

    async def read(self, *, count: int = _BATCH, block_ms: int = _BLOCK_MS) -> list[HistoryEvent]:
        """Up to ``count`` new events; waits up to ``block_ms`` for the first. Raises CorruptHistory
        when two that follow each other do not fit, Disconnected when the server is away."""
        after = await self.begin()
        answer = await self._reads.command(
            "XREAD", "COUNT", count, "BLOCK", block_ms, "STREAMS", self._stream, after
        )
        events = []
        for entry, fields in answer[0][1] if answer else ():
            events.append(_checked(self._record_id, entry, fields, self._previous))
            self.after, self._previous = entry, events[-1].digest
        return events

    async def __aiter__(self) -> AsyncIterator[HistoryEvent]:
        """Every event from here on, without end."""
        while True:
            for event in await self.read():
                yield event


def _checked(
    record_id: str, entry: str, fields: Sequence[str], previous: str | None
) -> HistoryEvent:
    event = HistoryEvent.parse(entry, fields)
    if previous is not None and event.digest != link(previous, fields):
        raise CorruptHistory(workflow_id=record_id, entry=entry)
    return event
