"""The outbox: what ended, and what others have to say, until the graph has it.

Two streams with one group of readers. Entries are settled after they were written, so that nothing
is lost when a reader dies; whoever comes next takes them over, and may write some twice.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from control_plane import keys, payload, script
from control_plane.backend import Backend
from control_plane.errors import OutboxFull, ServerError
from control_plane.run_document import RunDocument
from control_plane.run_lists import pages_by_score
from control_plane.script_calls import OUTBOX_LIMIT
from control_plane.store import Store

GROUP = "graph"
_STREAMS = (keys.OUTBOX_RUNS, keys.OUTBOX_RECORDS)
_REFUSED_LIMIT = 1_000
_LONGEST_REASON = 300
# How far a clock, or a client of a cluster, may lag behind when it writes DONE.
_SWEEP_MARGIN_MS = 60_000


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """Something to write: ``kind`` is ``run`` (then ``id`` is the run's, and ``data`` None), or
    what a producer called its record. ``stream`` and ``entry`` are where it stands."""

    stream: str
    entry: str
    kind: str
    id: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class OutboxLag:
    """What waits: entries by stream, when the oldest was put there (ms, None without any), hints
    of runs that were ``dropped`` because too many waited (a sweep finds their runs again), and how
    much was ``refused`` (could not be written; kept aside with the reason)."""

    runs: int
    records: int
    oldest_at: int | None
    dropped: int
    refused: int

    @property
    def waiting(self) -> int:
        return self.runs + self.records


class Outbox:
    """The outbox of one control plane, read as ``consumer``."""

    def __init__(self, backend: Backend, *, consumer: str = "") -> None:
        self._backend = backend
        self._consumer = consumer

    async def put(self, kind: str, id_: str, data: Any) -> None:
        """Put a record there; ``data`` is a JSON value. Raises OutboxFull while too many wait: the
        producer keeps it and comes again."""
        request = payload.to_text({"kind": kind, "id": id_, "limit": OUTBOX_LIMIT})
        names = [keys.OUTBOX_RECORDS, keys.OUTBOX_COUNTS]
        answer = await self._backend.run(
            script.load("tell"), names, [request, payload.to_text(data)]
        )
        if answer[0] == "full":
            raise OutboxFull(limit=int(answer[1]))

    async def open(self) -> None:
        """Create the group where it is missing."""
        for stream in _STREAMS:
            try:
                await self._backend.command("XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM")
            except ServerError as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def read(self, count: int, *, block_ms: int | None = None) -> list[OutboxEntry]:
        """Up to ``count`` entries of each stream that nobody has read; with ``block_ms`` it waits
        for the first, on a connection that it then takes for itself."""
        block = () if block_ms is None else ("BLOCK", block_ms)
        try:
            answer = await self._backend.command(
                "XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", count, *block,
                "STREAMS", *_STREAMS, *([">"] * len(_STREAMS)),
            )  # fmt: skip
        except ServerError as error:
            if "NOGROUP" not in str(error):
                raise
            await self.open()
            return []
        return [
            _entry(stream, *found) for stream, entries in answer or () for found in entries
            if found[1]
        ]  # fmt: skip

    async def claim(self, count: int, *, idle_ms: int) -> list[OutboxEntry]:
        """Up to ``count`` entries of each stream that somebody read ``idle_ms`` ago or earlier and
        never settled, taken over. Raises ServerError before ``open``."""
        taken = []
        for stream in _STREAMS:
            answer = await self._backend.command(
                "XAUTOCLAIM", stream, GROUP, self._consumer, idle_ms, "0-0", "COUNT", count
            )
            taken += [_entry(stream, *found) for found in answer[1] if found and found[1]]
        return taken

    async def settle(self, entries: Sequence[OutboxEntry]) -> None:
        """Forget entries that are written."""
        for stream in _STREAMS:
            ids = [entry.entry for entry in entries if entry.stream == stream]
            if ids:
                # Deleted first: what is deleted and still pending vanishes with the next claim.
                await self._backend.command("XDEL", stream, *ids)
                await self._backend.command("XACK", stream, GROUP, *ids)

    async def refuse(self, entry: OutboxEntry, reason: str) -> None:
        """Put an entry aside that cannot be written, however often it is tried."""
        await self._backend.command(
            "XADD", keys.OUTBOX_REFUSED, "MAXLEN", "~", _REFUSED_LIMIT, "*",
            "kind", entry.kind, "id", entry.id, "reason", reason[:_LONGEST_REASON],
            "data", payload.to_text(entry.data),
        )  # fmt: skip
        await self.settle([entry])

    async def lag(self) -> OutboxLag:
        """What waits now."""
        runs, records, refused = [
            int(await self._backend.command("XLEN", stream))
            for stream in (*_STREAMS, keys.OUTBOX_REFUSED)
        ]
        firsts = [
            await self._backend.command("XRANGE", stream, "-", "+", "COUNT", 1)
            for stream in _STREAMS
        ]
        oldest = [int(found[0][0].partition("-")[0]) for found in firsts if found]
        dropped = await self._backend.command("HGET", keys.OUTBOX_COUNTS, "dropped")
        return OutboxLag(runs, records, min(oldest, default=None), int(dropped or 0), refused)

    async def leave(self) -> None:
        """Take this consumer out of the group, unless entries are left that others have to claim
        from it. Where there is no group, since ``open`` failed, there is nothing to do."""
        for stream in _STREAMS:
            try:
                pending = await self._backend.command(
                    "XPENDING", stream, GROUP, "-", "+", 1, self._consumer
                )
            except ServerError as error:
                if "NOGROUP" not in str(error):
                    raise
                continue
            if not pending:
                await self._backend.command("XGROUP", "DELCONSUMER", stream, GROUP, self._consumer)

    async def dismiss(self, idle_ms: int) -> int:
        """Take consumers out of the group that nobody has heard of for ``idle_ms`` and that hold
        nothing; how many. For after ``open``."""
        gone = 0
        for stream in _STREAMS:
            for found in await self._backend.command("XINFO", "CONSUMERS", stream, GROUP):
                fields = dict(zip(found[::2], found[1::2], strict=True))
                if not fields["pending"] and int(fields["idle"]) >= idle_ms:
                    name = fields["name"]
                    await self._backend.command("XGROUP", "DELCONSUMER", stream, GROUP, name)
                    gone += 1
        return gone


async def sweep_outbox(
    store: Store,
    *,
    everything: bool = False,
    after_page: Callable[[], Awaitable[object]] | None = None,
) -> int:
    """Put runs into the outbox again that ended, wait for the graph and are not sure to be there:
    those that ended since the last sweep, or all if hints were dropped since; how many there were.
    For an outbox that is nearly empty: what waits there is put there a second time. With
    ``everything`` all that ended and still have documents, also those that the graph has (for a
    graph that was lost or emptied). ``after_page`` is called whenever up to 500 runs were put
    there, and may empty the outbox, so that none is dropped however many there are.
    """
    backend = store.backend
    swept, dropped, known = await backend.command(
        "HMGET", keys.OUTBOX_COUNTS, "swept", "dropped", "known"
    )
    since = 0 if everything or dropped != known else int(swept or 0)
    now_ms = await store.now_ms()
    found = 0
    async for page, _ in pages_by_score(backend, keys.DONE, str(since)):
        told = 0
        for run in await store.run_many(page):
            if everything or _waits(run):
                await store.tell_run(run.workflow_id)
                told += 1
        found += told
        if told and after_page is not None:
            await after_page()
    await backend.command(
        "HSET", keys.OUTBOX_COUNTS, "swept", max(0, now_ms - _SWEEP_MARGIN_MS),
        *(("known", dropped) if dropped is not None else ()),
    )  # fmt: skip
    return found


def _waits(run: RunDocument) -> bool:
    return run.finalized_at is not None and run.outbox in (None, "waiting")


def _entry(stream: str, entry: str, fields: Sequence[str]) -> OutboxEntry:
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    kind, data = named.get("kind", ""), named.get("data")
    # What follows is nobody's kind: it is put aside as it is.
    try:
        value = None if data is None else json.loads(data)
    except ValueError:
        kind, value = f"{kind}, no JSON", data
    except RecursionError:
        kind, value = f"{kind}, nested too deep", data
    if payload.is_too_deep(value):
        kind, value = f"{kind}, nested too deep", data
    return OutboxEntry(stream, entry, kind, named.get("id", ""), value)
