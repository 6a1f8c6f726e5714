"""Records: documents with a revision, changed by compare-and-set, with a history each.

What a record holds is not known here. Each has an id and, among those of its kind, a name of its
own; names are found in one hash, all of a kind in one sorted set, so that nothing ever has to scan.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from control_plane import payload, script
from control_plane.errors import BadDocument, NameTaken, ServerError
from control_plane.keys import APPROVALS
from control_plane.payload import JSON
from control_plane.record_document import RecordChange, check_member, check_record_name
from control_plane.record_kind import D
from control_plane.record_reader import RecordReader

HISTORY_KEPT_MS = 7 * 24 * 3600 * 1000
"""How long the history of a deleted record stays, in ms."""

_ATTEMPTS = 200
_FIRST_PAUSE_S = 0.001
_LONGEST_PAUSE_S = 0.064
_LONGEST_IN_ATTEMPTS = 16
_LONGEST_SLOW_PAUSE_S = 2.0


@dataclass(frozen=True, slots=True)
class RecordConflict:
    """A change did not happen: the record has this ``revision`` by now, not the one expected."""

    revision: int


class RecordStore(RecordReader[D]):
    """The records of one kind on a backend.

    Every change carries an id; the same id again (``call``; a client that did not hear the answer
    sends twice) gets the first answer and changes nothing.
    """

    async def create(
        self,
        record_id: str,
        name: str,
        *,
        tags: Sequence[str] = (),
        record: Mapping[str, JSON] | None = None,
        call: str | None = None,
    ) -> D:
        """A new record. What was kept of a deleted one with this id is in it, whatever ``record``
        says. Raises the error of its kind that there is one already, that its history is full;
        NameTaken, BadName, BadDocument."""
        call = call or self.new_id()
        keys = self.keys(record_id)
        request = {"id": record_id, "name": check_record_name(name), "call": call}
        text = self.kind.document.text(record_id, name, tags, record or {})
        created = {"type": self.kind.event("Created"), "name": name, "tags": list(tags)}
        more = [keys.gone(call), keys.kept]
        texts = [text, payload.to_text(created)]
        code, *rest = await self._run("record_create", record_id, request, texts, more)
        if code == "exists":
            raise self.kind.exists(**self._named(record_id))
        if code != "ok":
            raise self._error(code, rest, record_id, name)
        revision, at, kept = int(rest[0]), int(rest[1]), rest[2]
        members = {**(record or {}), **_kept(kept)}
        return self.kind.document(record_id, name, tuple(tags), revision, call, at, at, members)

    async def change(
        self, document: D, change: RecordChange, *, call: str | None = None
    ) -> D | RecordConflict:
        """Write ``change`` if the record is still at the revision of ``document``; what it is then.

        Raises NameTaken, BadDocument, and errors of its kind: it is unknown (also when another
        has the id by now), its history is full.
        """
        code, *rest = await self._change(document, change, document.revision, call)
        if code == "conflict":
            return RecordConflict(int(rest[0]))
        if code != "ok":
            raise self._error(code, rest, document.id, change.name or "")
        return replace(
            document,
            revision=int(rest[0]),
            name=document.name if change.name is None else change.name,
            tags=document.tags if change.tags is None else tuple(change.tags),
            record={**document.record, **change.members},
        )

    async def note(self, document: D, events: Sequence[Mapping[str, JSON]]) -> None:
        """Append events to the history, whatever the revision is by now. Raises errors of its kind:
        it is unknown, its history is full."""
        limits = [one for one in (self.kind.notes, self.kind.most) if one is not None]
        most = min(limits, default=None)
        code, *rest = await self._change(document, RecordChange(events), None, None, most)
        if code != "ok":
            raise self._error(code, rest, document.id, "")

    async def update(
        self,
        record_id: str,
        plan: Callable[[D], RecordChange | None],
        members: Sequence[str] | None = None,
        *,
        incarnation: str | None = None,
    ) -> D:
        """Read, plan, write, and again from the start when somebody else was faster.

        ``plan`` may be called several times and must not do anything but plan; with None nothing is
        written. ``members`` are those it reads. The record as it is then. Raises what ``change``
        raises (it is unknown also when the record that ``incarnation`` tells was deleted and its id
        given to another); after 200 attempts that it is busy.
        """
        # Users of this store take turns: only those of other processes have to be outrun.
        turns = self._turns.setdefault(record_id, asyncio.Lock())
        async with turns:
            took_s = 0.0
            for attempt in range(_ATTEMPTS):
                if attempt:
                    await asyncio.sleep(self._jitter() * _pause_s(attempt, took_s))
                began_s = self._clock_s()
                document = await self.get(record_id, members)
                if document is None or document.incarnation != (
                    incarnation or document.incarnation
                ):
                    raise self.kind.unknown(**self._named(record_id))
                incarnation = document.incarnation
                change = plan(document)
                if change is None:
                    return document
                written = await self.change(document, change)
                if not isinstance(written, RecordConflict):
                    return written
                took_s = self._clock_s() - began_s
        raise self.kind.busy(**self._named(record_id), attempts=_ATTEMPTS)

    async def delete(
        self,
        document: D,
        *,
        by: str = "",
        settled: Sequence[str] = (),
        keep: Sequence[str] = (),
        call: str | None = None,
        history_kept_ms: int = HISTORY_KEPT_MS,
    ) -> None:
        """Delete the record, whatever its revision is by now; its history stays for a week, and its
        members ``keep`` for good: what is made under its id begins with them.

        Raises the error of its kind that it is unknown when it was deleted before."""
        call = call or self.new_id()
        keys = self.keys(document.id)
        request = {
            "id": document.id,
            "incarnation": document.incarnation,
            "call": call,
            "keep_ms": history_kept_ms,
            "settled": list(settled),
            "keep": [check_member(member) for member in keep],
        }
        event = payload.to_text({"type": self.kind.event("Deleted"), "by": by})
        more = [keys.gone(call), keys.gone(document.incarnation), keys.kept]
        code, *rest = await self._run("record_delete", document.id, request, [event], more)
        if code != "ok":
            raise self._error(code, rest, document.id, "")
        await self._hint(RecordChange(settled=settled))

    async def _change(
        self,
        document: D,
        change: RecordChange,
        revision: int | None,
        call: str | None,
        most: int | None = None,
    ) -> list[Any]:
        request: dict[str, Any] = {
            "id": document.id,
            "incarnation": document.incarnation,
            "call": call or self.new_id(),
            "events": len(change.events),
            "asked": dict(change.asked),
            "settled": list(change.settled),
            "closing": change.closing,
            "most": most,
        }
        if revision is not None:
            request["revision"] = revision
        if change.name is not None:
            request["name"] = change.name
        texts = [payload.to_text(event) for event in change.events] + change.writes()
        answer = await self._run("record_change", document.id, request, texts, [])
        if answer[0] == "ok":
            await self._hint(change)
        return answer

    async def _run(
        self, name: str, record_id: str, request: Mapping[str, Any], texts: Sequence[str],
        more: Sequence[str],
    ) -> list[Any]:  # fmt: skip
        keys = self.keys(record_id)
        # In a cluster the list of approvals lies in another slot; this name is never written.
        approvals = keys.index_key("none") if self.cluster else APPROVALS
        names = [keys.document, keys.history, keys.names, keys.index, approvals, *more]
        limits = {"newest": self.kind.newest, "most": self.kind.most}
        request = {key: part for key, part in request.items() if part is not None}
        request = {**limits, **request, "cluster": self.cluster}
        request = {key: part for key, part in request.items() if part is not None}
        answer: list[Any] = await self.backend.run(
            script.load(name), names, [payload.to_text(request), *texts]
        )
        return answer

    async def _hint(self, change: RecordChange) -> None:
        """In a cluster the list of approvals is written from here."""
        if not self.cluster:
            return
        for approval, at in change.asked.items():
            await self.backend.command("ZADD", APPROVALS, at, approval)
        for approval in change.settled:
            await self.backend.command("ZREM", APPROVALS, approval)

    def _error(self, code: str, rest: Sequence[Any], record_id: str, name: str) -> Exception:
        if code == "name_taken":
            return NameTaken(name=name, kind=self.kind.noun, id=rest[0])
        if code == "bad_document":
            return BadDocument(reason=rest[0])
        if code == "unknown":
            return self.kind.unknown(**self._named(record_id))
        if code == "full":
            return self.kind.full(**self._named(record_id), limit=rest[0])
        return ServerError(f"the script answered {code!r}")


def _kept(pairs: Sequence[str]) -> dict[str, JSON]:
    """Members and the texts that are stored for them, as they are read."""
    texts = zip(pairs[::2], pairs[1::2], strict=True)
    return {member: payload.decode(json.loads(text)) for member, text in texts}


def _pause_s(attempt: int, took_s: float) -> float:
    """The longest pause before an attempt that follows ``attempt`` lost ones, in seconds: 1 ms,
    2 ms, 4 ms … 64 ms. Where the server is slow it is up to 16 times what the last attempt took, at
    most 2 s. Who waits a random part of it meets others less and less; of N writers whose pauses
    are shorter than their attempts, each would win one attempt in N."""
    pause_s = min(_FIRST_PAUSE_S * 2 ** min(attempt - 1, 16), _LONGEST_PAUSE_S)
    slow_s = min(min(attempt, _LONGEST_IN_ATTEMPTS) * took_s, _LONGEST_SLOW_PAUSE_S)
    return float(max(pause_s, slow_s))
