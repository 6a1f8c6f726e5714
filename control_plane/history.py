"""The history of a run: a stream in which each entry's digest covers the one before.

``digest = sha1(previous digest + "\\n" + at + "\\n" + event)``, made by the script that appends;
the audit record seals the whole stream with SHA-256.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from control_plane.errors import CorruptHistory
from control_plane.reader import BATCH

if TYPE_CHECKING:
    from control_plane.store import Store


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One entry: ``at`` in ms by Redis's clock, ``event`` with ``type`` and, mostly, ``path``."""

    entry: str
    at: int
    event: dict[str, Any]
    digest: str

    @classmethod
    def parse(cls, entry: str, fields: Sequence[str]) -> HistoryEvent:
        """The event in an entry of a stream; ``fields`` are names and values in turn."""
        named = dict(zip(fields[::2], fields[1::2], strict=True))
        return cls(entry, int(named["at"]), json.loads(named["event"]), named["digest"])


async def read(store: Store, workflow_id: str, *, after: str = "-") -> AsyncIterator[HistoryEvent]:
    """The events in order, optionally only those after entry ``after``. Raises CorruptHistory when
    the first digest (reading from the start) or any later link does not fit, and over what is no
    event."""
    previous = "" if after == "-" else None
    start = after if after == "-" else f"({after}"
    stream = store.keys(workflow_id).history
    while True:
        batch = await store.backend.command("XRANGE", stream, start, "+", "COUNT", BATCH)
        for entry, fields in batch:
            try:
                event = HistoryEvent.parse(entry, fields)
            except (LookupError, TypeError, ValueError) as error:
                raise CorruptHistory(workflow_id=workflow_id, entry=entry) from error
            if previous is not None and event.digest != link(previous, fields):
                raise CorruptHistory(workflow_id=workflow_id, entry=entry)
            previous = event.digest
            yield event
        if len(batch) < BATCH:
            return
        start = f"({batch[-1][0]}"


async def read_whole(store: Store, workflow_id: str) -> AsyncIterator[HistoryEvent]:
    """All events there are by now, in order. Raises CorruptHistory, also when the end is missing or
    nothing says where it is, and UnknownRun when the run was removed meanwhile."""
    chain = store.keys(workflow_id).chain
    known = await store.backend.command("HGET", chain, "digest") or ""
    complete, entry = known == "", known
    async for event in read(store, workflow_id):
        complete, entry = event.digest == known or (complete and known != ""), event.entry
        yield event
    if not complete and not known:
        # A run that began meanwhile has one by now.
        known = await store.backend.command("HGET", chain, "digest") or ""
        complete = known != ""
    if not complete:
        # Nothing is missing from a run that is no more.
        await store.run_status(workflow_id)
        raise CorruptHistory(workflow_id=workflow_id, entry=known or entry)


@dataclass(frozen=True, slots=True)
class Seal:
    """``sha256`` covers every digest of the stream, ``head`` is the last of them ("" without)."""

    sha256: str
    head: str
    events: int


async def seal(store: Store, workflow_id: str) -> Seal:
    """Check the whole stream and seal it. Raises CorruptHistory, UnknownRun."""
    sealed, head, count = hashlib.sha256(), "", 0
    async for event in read_whole(store, workflow_id):
        head = event.digest
        sealed.update(f"{head}\n".encode())
        count += 1
    return Seal(sealed.hexdigest(), head, count)


def link(previous: str, fields: Sequence[str]) -> str:
    """The digest that an entry with these ``fields`` must have after one with ``previous``."""
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    text = f"{previous}\n{named['at']}\n{named['event']}"
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
