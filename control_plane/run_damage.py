"""What is wrong with the keys of a run: written over, cut short or deleted by hand, or by what is
no part of DCF."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from control_plane import payload
from control_plane.documents import StateDocument, StateStatus
from control_plane.errors import (
    BrokenRun,
    CorruptHistory,
    DamagedRun,
    MissingBlob,
    NotText,
    RefusedForGood,
    ServerError,
    UnknownRun,
    UnknownState,
)
from control_plane.history import HistoryEvent, link
from control_plane.reader import BATCH, JSON_TYPE, Reader
from control_plane.run_file_shapes import BadPart, check_part

if TYPE_CHECKING:
    from control_plane.run_document import RunDocument

_MOST_TOLD = 3
# Of the keys of states, which are asked for one by one.
_TOGETHER = 32
_KINDS = {
    JSON_TYPE: "a JSON document",
    "stream": "a stream",
    "hash": "a hash",
    "zset": "a sorted set",
    "set": "a set",
    "string": "a string",
    "none": "nothing",
}
_STATUSES = get_args(StateStatus)
_MOVED_BY = {"ready": ("ready_at", "hint_at"), "running": ("lease",), "waiting": ("wait",)}
"""What a control record has, by the status, so that time can move the state."""
_NUMBERS = frozenset({"ready_at", "hint_at", "wait_until", "deadline", "hb_due"})
_TEXTS = frozenset({"wait", "event"})
_LEASE = {"token": str, "owner": str, "ts": int, "ttl": int, "ends": int}
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of reading a document that says what no document says."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What stands at ``key``, and what should: texts for people."""

    key: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.key} holds {self.found}, and should hold {self.expected}"


@asynccontextmanager
async def damage_is_told(store: Reader, workflow_id: str) -> AsyncIterator[None]:
    """Where reading or moving the run fails because a key of it is damaged, that is what is raised:
    BrokenRun of its document, DamagedRun of the others."""
    try:
        yield
    except (BrokenRun, RefusedForGood):
        raise
    except (
        *(CorruptHistory, MissingBlob, ServerError, UnknownRun, UnknownState),
        *_UNREADABLE,
    ) as error:
        try:
            found = await find_damage(store, workflow_id)
        except UnknownRun:
            raise error from None
        if found:
            raise damaged(workflow_id, found) from error
        raise


async def check_run(store: Reader, workflow_id: str, *, whole: bool = False) -> None:
    """Raises UnknownRun, BrokenRun, and DamagedRun where what a run is moved by cannot be read: its
    states, its history, and the keys that tell of them; with ``whole`` also what its states put
    out, and what no schema allows."""
    if found := await find_damage(store, workflow_id, whole=whole):
        raise damaged(workflow_id, found)


def damaged(workflow_id: str, found: Sequence[Damage]) -> DamagedRun:
    """The error that tells of the first of what was ``found``."""
    told = "; ".join(map(str, found[:_MOST_TOLD]))
    left = len(found) - _MOST_TOLD
    return DamagedRun(
        workflow_id=workflow_id, why=f"{told}; and {left:,} more" if left > 0 else told
    )


async def find_damage(store: Reader, workflow_id: str, *, whole: bool = True) -> list[Damage]:
    """What is wrong with the keys of a run; with ``whole`` also with what its states put out, and
    by the schemas. Raises UnknownRun where nothing is left of it, BrokenRun for a document of it
    that nobody can read."""
    look = _Look(store, workflow_id, whole)
    try:
        run = await store.run(workflow_id)
    except UnknownRun:
        found = [one async for one in look.remains()]
        if not found:
            raise
        return found
    found = [one async for one in look.damages(run)]
    if found and (await store.run(workflow_id)).removing:
        # Of one that is being removed, or put back, parts are missing.
        return [one for one in found if one.found != _KINDS["none"]]
    return found


class _Look:
    """One look at the keys of a run."""

    def __init__(self, store: Reader, workflow_id: str, whole: bool) -> None:
        self._store, self._keys, self._whole = store, store.keys(workflow_id), whole
        self._command = store.backend.command

    async def remains(self) -> AsyncIterator[Damage]:
        """Of a run without a document: whatever is removed with the document, or before."""
        keys = self._keys
        for key in (keys.history, keys.chain, keys.paths):
            if await self._command("TYPE", key) != "none":
                expected = f"a JSON document, as there is {key}"
                yield Damage(keys.meta, _KINDS["none"], expected)
                return

    async def damages(self, run: RunDocument) -> AsyncIterator[Damage]:
        """All there is."""
        keys, begun = self._keys, run.status != "pending"
        if self._whole and (fault := _fault_of_run(run)):
            yield Damage(keys.meta, fault, "the document of a run")
        wanted = {
            **{keys.paths: "set", keys.chain: "hash", keys.history: "stream", keys.due: "zset"},
            **{keys.blobs: "set", keys.agents: "hash", keys.audit: JSON_TYPE},
        }
        # Always there, once the run has begun.
        needed = {keys.paths, keys.chain, keys.history} if begun else set()
        needed |= {keys.audit} if self._whole and run.finalized_at is not None else set()
        good = set()
        for key, kind in wanted.items():
            found = await self._command("TYPE", key)
            if found == kind:
                good.add(key)
            elif found != "none" or key in needed:
                yield Damage(key, _KINDS.get(found, found), _KINDS[kind])
        if {keys.chain, keys.history} <= good:
            async for one in self._books():
                yield one
        if keys.paths in good:
            async for one in self._documents():
                yield one
        if not self._whole:
            return
        if keys.blobs in good:
            async for one in self._blobs():
                yield one
        if keys.agents in good:
            async for one in self._part("agents", "", keys.agents):
                yield one
        if keys.audit in good:
            async for one in self._part("audit", "", keys.audit):
                yield one

    async def _books(self) -> AsyncIterator[Damage]:
        """The chain first: what comes meanwhile is behind what it covers."""
        keys, broken = self._keys, False
        async for one in self._part("chain", "", keys.chain):
            broken = True
            yield one
        if broken:
            return
        known = await self._command("HGET", keys.chain, "digest") or ""
        try:
            last, complete, start = "", not known, "-"
            while start:
                batch = await self._command("XRANGE", keys.history, start, "+", "COUNT", BATCH)
                for entry, fields in batch:
                    if fault := _fault_of_entry(last, entry, fields):
                        yield Damage(keys.history, *fault)
                        return
                    last = fields[fields.index("digest") + 1]
                    complete = complete or last == known
                start = f"({batch[-1][0]}" if len(batch) == BATCH else ""
        except NotText as error:
            yield self._no_text(keys.history, error)
            return
        if not complete:
            expected = f"every event up to the digest {known[:12]}…, which {keys.chain} names"
            yield Damage(keys.history, "only a part of the events", expected)

    async def _documents(self) -> AsyncIterator[Damage]:
        keys = self._keys
        try:
            paths = sorted(await self._command("SMEMBERS", keys.paths))
        except NotText as error:
            yield self._no_text(keys.paths, error)
            return
        done = set[str]()
        for at in range(0, len(paths), BATCH):
            part = paths[at : at + BATCH]
            texts = await self._command("JSON.MGET", *map(keys.state, part), ".")
            for path, text in zip(part, texts, strict=True):
                key = keys.state(path)
                if text is None:
                    found = await self._command("TYPE", key)
                    expected = f"a JSON document, as {keys.paths} names it"
                    yield Damage(key, _KINDS.get(found, found), expected)
                elif fault := _fault_of_state(path, text, whole=self._whole):
                    yield Damage(key, fault, "the document of a state")
                elif (document := StateDocument.parse(text)).status == "done":
                    done |= {path} if document.kind == "state" else set()
        for at in range(0, len(paths) if self._whole else 0, _TOGETHER):
            part = paths[at : at + _TOGETHER]
            for found in await asyncio.gather(
                *(self._kept_of(path, path in done) for path in part)
            ):
                for one in found:
                    yield one

    async def _kept_of(self, path: str, is_done: bool) -> list[Damage]:
        """What is wrong with what a state put out and called."""
        keys = self._keys
        found = [one async for one in self._part("output", path, keys.output(path), needed=is_done)]
        if [one.found for one in found] == [_KINDS["none"]] and not await self._is_lost(path):
            found = []
        return [*found, *[one async for one in self._part("calls", path, keys.calls(path))]]

    async def _is_lost(self, path: str) -> bool:
        """Whether a state is done, and its output is not there. A loop that comes back takes both
        away, at once."""
        before = await self._done_visit(path)
        there = await self._command("TYPE", self._keys.output(path)) != "none"
        return before is not None and not there and before == await self._done_visit(path)

    async def _done_visit(self, path: str) -> int | None:
        found = await self._store.states(self._keys.workflow_id, [path])
        return found[path].visit if path in found and found[path].status == "done" else None

    async def _blobs(self) -> AsyncIterator[Damage]:
        keys = self._keys
        try:
            names = sorted(await self._command("SMEMBERS", keys.blobs))
        except NotText as error:
            yield self._no_text(keys.blobs, error)
            return
        for name in names:
            async for one in self._part("blob", name, keys.blob(name), needed=True):
                missing = one.found == _KINDS["none"]
                named = f"{one.expected}, as {keys.blobs} names it"
                yield replace(one, expected=named) if missing else one

    async def _part(
        self, kind: str, name: str, key: str, *, needed: bool = False
    ) -> AsyncIterator[Damage]:
        """What is wrong with one key, as a part of an exported run."""
        wanted, command = _READ[kind]
        found = await self._command("TYPE", key)
        if found != wanted:
            if found != "none" or needed:
                yield Damage(key, _KINDS.get(found, found), _KINDS[wanted])
            return
        try:
            value = await self._command(command, key)
            text = value if isinstance(value, str) else payload.to_text(value or [])
            check_part(kind, name, text)
        except NotText as error:
            yield self._no_text(key, error)
        except BadPart as error:
            yield Damage(key, f"something else ({error})", _EXPECTED[kind])

    def _no_text(self, key: str, error: NotText) -> Damage:
        return Damage(key, f"bytes that are no text ({error.fields['why']})", "text in UTF-8")


_READ = {
    "output": (JSON_TYPE, "JSON.GET"),
    "audit": (JSON_TYPE, "JSON.GET"),
    "chain": ("hash", "HGETALL"),
    "calls": ("hash", "HGETALL"),
    "agents": ("hash", "HGETALL"),
    "blob": ("string", "GET"),
}
_EXPECTED = {
    "output": "what a state put out",
    "audit": "the audit record of a run",
    "chain": "the digest and the counts of a history",
    "calls": "calls of tools, by their numbers",
    "agents": "agents, by their states",
    "blob": "the JSON whose SHA-256 is its name",
}


def _fault_of_run(run: RunDocument) -> str:
    """What is wrong with the document of a run that can be read, "" where nothing is."""
    # Lua knows no empty array.
    ctl = run.raw["ctl"] | {"said": run.raw["ctl"]["said"] or {}}
    try:
        check_part("meta", "", json.dumps(run.raw | {"ctl": ctl}))
    except BadPart as error:
        return f"something else ({error})"
    return ""


def _fault_of_entry(before: str, entry: str, fields: Sequence[str]) -> tuple[str, str] | None:
    """What was found in place of an event, and what was expected; None for one that may follow the
    digest ``before``."""
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    missing = [name for name in ("at", "event", "digest") if name not in named]
    if missing:
        return f"an entry {entry} without {' and '.join(missing)}", "at, event and digest in each"
    if link(before, fields) != named["digest"]:
        found = f"an entry {entry} that does not match its digest"
        return found, "the events as they were written, from the first on"
    try:
        HistoryEvent.parse(entry, fields)
    except _UNREADABLE as error:
        return f"an entry {entry} that cannot be read ({error})", "a time and a JSON object in each"
    return None


def _fault_of_state(path: str, text: str, *, whole: bool) -> str:
    """What is wrong with the document of a state, "" where nothing is."""
    raw = json.loads(text)
    if not isinstance(raw, dict):
        return "JSON that is no object"
    if not isinstance(raw.get("ctl"), dict):
        return "JSON without a control record (ctl)"
    try:
        document = StateDocument.parse(text)
        if whole:
            check_part("state", path, text)
    except BadPart as error:
        return f"something else ({error})"
    except KeyError as error:
        return f"JSON without {error.args[0]}"
    except _UNREADABLE as error:
        return f"JSON that cannot be read ({error})"
    if not isinstance(document.times, dict):
        return "times that are none"
    numbers = (document.visit, document.try_, document.round, document.attempts)
    if document.path != path.partition("@")[0]:
        return f"the document of {document.path}"
    if document.status not in _STATUSES or any(type(one) is not int for one in numbers):
        return "a control record (ctl) that is none of a state"
    return _fault_of_control(raw["ctl"], document.status)


def _fault_of_control(ctl: dict[str, Any], status: StateStatus) -> str:
    """What is wrong with what time moves a state by, "" where nothing is: a script that meets it
    fails, each time that it is called."""
    for name, value in ctl.items():
        # Scripts leave out what there is not.
        wrong = (
            value is None
            or (name in _NUMBERS and type(value) not in (int, float))
            or (name in _TEXTS and not isinstance(value, str))
        )
        if wrong:
            return f"a control record with {json.dumps(value)[:64]} for {name}"
    for name in _MOVED_BY.get(status, ()):
        if name not in ctl:
            return f"a control record that is {status}, without {name}"
    if status == "running":
        return _fault_of_lease(ctl["lease"])
    return ""


def _fault_of_lease(lease: object) -> str:
    if not isinstance(lease, dict):
        return "a control record with a lease that is none"
    wrong = [name for name, kind in _LEASE.items() if type(lease.get(name)) is not kind]
    if wrong:
        return f"a control record with a lease without a right {' and '.join(wrong)}"
    return ""
