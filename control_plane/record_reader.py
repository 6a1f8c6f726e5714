"""Reading records."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic
from weakref import WeakValueDictionary

from control_plane.backend import Backend
from control_plane.clock import NewToken, new_token
from control_plane.history import HistoryEvent
from control_plane.payload import JSON
from control_plane.record_document import check_member
from control_plane.record_kind import D, RecordKeys, RecordKind

_HEAD = ("name", "tags", "revision", "created_at", "updated_at", "ctl")


@dataclass(frozen=True, slots=True)
class RecordPage(Generic[D]):
    """Some records in the order in which they were made. ``after`` continues the listing, None at
    its end. Their members are not read."""

    records: tuple[D, ...]
    after: int | None


class RecordReader(Generic[D]):
    """What can be asked about records of one kind. With ``cluster`` their keys share a slot.
    ``jitter`` gives numbers from 0 to 1: how much of a pause is really waited. ``clock_s`` gives
    seconds from any moment on."""

    kind: RecordKind[D]

    def __init__(
        self,
        backend: Backend,
        *,
        cluster: bool = False,
        tokens: NewToken = new_token,
        jitter: Callable[[], float] = random.random,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.backend = backend
        self.cluster = cluster
        self.new_id = tokens
        self._jitter = jitter
        self._clock_s = clock_s
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def keys(self, record_id: str) -> RecordKeys:
        """The keys of a record. Raises BadName for what cannot be an id."""
        return self._keys(self.kind.check_id(record_id))

    def _named(self, record_id: str) -> dict[str, str]:
        return {self.kind.noun: record_id}

    def _keys(self, record_id: str) -> RecordKeys:
        kind = self.kind
        return RecordKeys(kind.place, kind.index, record_id, kind.suffix, self.cluster)

    def _index_key(self, name: str) -> str:
        return self._keys("").index_key(name)

    async def get(self, record_id: str, members: Sequence[str] | None = None) -> D | None:
        """The record, or only ``members`` of it; None when there is none."""
        key = self.keys(record_id).document
        if members is None:
            text = await self.backend.command("JSON.GET", key)
            return self.kind.document.parse(json.loads(text)) if text is not None else None
        wanted = {f"$.record.{check_member(member)}": member for member in members}
        heads = {f"$.{name}": name for name in self._head}
        text = await self.backend.command("JSON.GET", key, *heads, *wanted)
        if text is None:
            return None
        found: dict[str, list[JSON]] = json.loads(text)
        raw = {name: found[path][0] for path, name in heads.items()}
        raw["record"] = {name: found[path][0] for path, name in wanted.items() if found[path]}
        return self.kind.document.parse(raw)

    async def read(self, record_id: str, members: Sequence[str] | None = None) -> D:
        """As ``get``. Raises the error of its kind that there is none."""
        found = await self.get(record_id, members)
        if found is None:
            raise self.kind.unknown(**self._named(record_id))
        return found

    async def find(self, name: str) -> str | None:
        """The id of the record called ``name`` (exactly), or None."""
        found = await self.backend.command("HGET", self._index_key("names"), name)
        return None if found is None else str(found)

    async def page(
        self, *, after: int | None = None, limit: int = 100, tags: Sequence[str] = ()
    ) -> RecordPage[D]:
        """Up to ``limit`` records that have all of ``tags``, the oldest first."""
        records: list[D] = []
        index = self._index_key("index")
        while True:
            start = "-inf" if after is None else f"({after}"
            batch = await self.backend.command(
                "ZRANGE", index, start, "+inf", "BYSCORE", "LIMIT", 0, limit, "WITHSCORES"
            )
            found = await self._heads(batch[::2])
            for record, score in zip(found, batch[1::2], strict=True):
                after = int(float(score))
                if record is not None and set(tags) <= set(record.tags):
                    records.append(record)
                    if len(records) == limit:
                        return RecordPage(tuple(records), after)
            if len(batch) < 2 * limit:
                return RecordPage(tuple(records), None)

    async def _heads(self, ids: Sequence[str]) -> list[D | None]:
        """These records without their members; None for one that was deleted meanwhile."""
        if not ids:
            return []
        names = [self.keys(record_id).document for record_id in ids]
        columns = [
            await self.backend.command("JSON.MGET", *names, f"$.{name}") for name in self._head
        ]
        rows = [
            None if None in row else [json.loads(text) for text in row]
            for row in zip(*columns, strict=True)
        ]
        return [self._parsed(row) if row is not None and all(row) else None for row in rows]

    @property
    def _head(self) -> tuple[str, ...]:
        return (self.kind.document.ID_MEMBER, *_HEAD)

    def _parsed(self, row: Sequence[Sequence[JSON]]) -> D:
        found = {name: values[0] for name, values in zip(self._head, row, strict=True)}
        return self.kind.document.parse({**found, "record": {}})

    async def count(self) -> int:
        """How many records of this kind there are."""
        return int(await self.backend.command("ZCARD", self._index_key("index")))

    async def events(
        self, record_id: str, *, after: str = "-", count: int = 100
    ) -> list[HistoryEvent]:
        """Up to ``count`` events of the record's history, those after entry ``after``; of one that
        was deleted too, for as long as its history stays. ``read_record_history`` checks them."""
        start = after if after == "-" else f"({after}"
        found = await self.backend.command(
            "XRANGE", self.keys(record_id).history, start, "+", "COUNT", count
        )
        return [HistoryEvent.parse(*entry) for entry in found]

    async def now_ms(self) -> int:
        """Redis's clock."""
        seconds, micros = await self.backend.command("TIME")
        return int(seconds) * 1000 + int(micros) // 1000
