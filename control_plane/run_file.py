"""The file of an exported run: gzip of lines of JSON.

The first line is ``{"format": "dcf-run", "version": 1, "workflow_id": …}``, the second ``{"meta":
…}``, then one a part, ``{"kind", "name", "text"}``; the last is ``{"lines", "sha256"}`` over all
before it. Who reads one checks these, what each document and event must be, the digest chain of the
history, the seal of the audit record, every blob's digest, that outputs are those that the history
has the digests of, and that no state, output or blob is missing. No more than ``LARGEST`` bytes are
read, however small the file is, and lines, values and nesting are bounded.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

from control_plane import history, payload
from control_plane.keys import encode_name
from control_plane.run_export import KINDS, Kind, NotExportable, Part, RunExport
from control_plane.run_file_lines import (
    LONGEST_LINE,
    MOST_LINES,
    BadRunFile,
    check_size,
    meta_text,
    part_texts,
    read_lines,
    record,
)
from control_plane.run_file_shapes import (
    MOST_VALUES,
    STORED,
    BadPart,
    check_meta,
    check_order,
    check_part,
    has_too_many_values,
)

__all__ = ["BadRunFile", "pack", "unpack"]

FORMAT, VERSION = "dcf-run", 1
LARGEST = 512 * 1024 * 1024
"""Bytes of a file's content, uncompressed."""
_DONE = "StateDone"
_DIGEST = 41  # characters of a SHA-1 and a line's end
_Value = TypeVar("_Value")


def pack(export: RunExport) -> bytes:
    """The file of a run. Raises NotExportable for one that ``unpack`` would refuse, as too large or
    damaged."""
    workflow_id = export.run.workflow_id
    header = {"format": FORMAT, "version": VERSION, "workflow_id": workflow_id}
    parts = ({"kind": p.kind, "name": p.name, "text": p.text} for p in export.parts)
    lines = [f"{payload.to_text(one)}\n" for one in (header, {"meta": export.meta}, *parts)]
    longest = max(len(line.encode()) for line in lines)
    body = "".join(lines).encode()
    for size, most, what in (
        (len(body), LARGEST - 1_000, "bytes"),
        (longest, LONGEST_LINE, "bytes in one part"),
        (len(lines), MOST_LINES - 1, "parts"),
    ):
        if size > most:
            why = f"has {size:,} {what}, more than the {most:,} of a file"
            raise NotExportable(workflow_id=workflow_id, why=why)
    for part in export.parts:
        if part.kind != "blob" and has_too_many_values(part.text):
            why = f"has more than {MOST_VALUES:,} values in its {part.kind} {part.name}".rstrip()
            raise NotExportable(workflow_id=workflow_id, why=why)
    end = {"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    data = gzip.compress(body + f"{payload.to_text(end)}\n".encode(), mtime=0)
    try:
        unpack(data)
    except BadRunFile as error:
        why = f"is damaged ({error.fields['where']}: {error.fields['why']})"
        raise NotExportable(workflow_id=workflow_id, why=why) from error
    return data


def unpack(data: bytes) -> RunExport:
    """The run in a file, checked whole. Raises BadRunFile."""
    check_size(data, LARGEST)
    workflow_id: object = None
    meta, parts, run = "", list[Part](), _Run()
    for number, line in enumerate(read_lines(data), 1):
        match number:
            case 1:
                workflow_id = _header(line)
            case 2:
                meta = meta_text(line)
                value = _check(number, "the document of a run", check_meta, meta, workflow_id)
                run.add_document(value)
            case _:
                parts.append(run.part(line, number))
    run.check_end(workflow_id)
    return RunExport(meta, tuple(parts))


def _header(line: bytes) -> object:
    header = record(line, 1)
    if header.get("format") != FORMAT:
        raise BadRunFile(where="line 1", why="this is not an exported run")
    if header.get("version") != VERSION:
        why = f"format {header.get('version')!r} is not known, only {VERSION}; update dcf-agents"
        raise BadRunFile(where="line 1", why=why)
    return header.get("workflow_id")


class _Run:
    """What of the parts must fit together."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self._entry, self._digest, self._digests = (0, 0), "", bytearray()
        self._chain: dict[str, str] = {}
        self._audit: dict[str, Any] = {}
        self._visits: dict[str, int] = {}
        """Of each state."""
        self._top: set[str] = set()
        """The paths of the states that the document names."""
        self._done: set[str] = set()
        """States that gave an output."""
        self._outputs: dict[str, str] = {}
        """Digest of what each state gave."""
        self._given: dict[tuple[str | None, int | None], Any] = {}
        """The same as the history says, by path and visit."""
        self._blobs: dict[str, str] = {}
        """Who refers to each."""

    def add_document(self, meta: dict[str, Any]) -> None:
        self._top = {encode_name(name) for name in meta["states"]}
        self._blobs[meta["definition"]] = "definition"
        self._refer("meta", "document", meta)

    def part(self, line: bytes, number: int) -> Part:
        kind, name, text = part_texts(line, number)
        if kind not in KINDS:
            why = f"it is not a part of a run: kind is {kind[:64]!r}, of {', '.join(sorted(KINDS))}"
            raise BadRunFile(where=f"line {number}", why=why)
        what = f"the {kind} {name[:64]}".rstrip()
        value = _check(number, f"{what} of a run", check_part, kind, name, text)
        if kind == "history":
            self._add_event(*value)
        else:
            names = self._names[kind]
            if name in names:
                why = f"there is a second {what.removeprefix('the ')}"
                raise BadRunFile(where=f"line {number}", why=why)
            names.add(name)
        match kind:
            case "chain":
                self._chain = value
            case "audit":
                self._audit = value
            case "state":
                self._visits[name] = value["visit"]
                if value["status"] == "done" and value["type"] != "Frame":
                    self._done.add(name)
                self._refer(kind, f"state {name[:64]}", value)
            case "output":
                self._outputs[name] = payload.digest_of(value["data"])
                self._refer(kind, f"output of {name[:64]}", value)
        return Part(cast(Kind, kind), name, text)

    def _refer(self, kind: str, what: str, document: dict[str, Any]) -> None:
        for member in STORED[kind]:
            sha256 = payload.blob_of(document.get(member))
            if sha256 is not None:
                self._blobs[sha256] = what

    def _add_event(self, entry: str, at: str, event: str, digest: str) -> None:
        where = f"history {entry}"
        try:
            self._entry = check_order(entry, self._entry)
        except BadPart as error:
            raise BadRunFile(where=where, why=str(error)) from error
        if history.link(self._digest, ["at", at, "event", event]) != digest:
            raise BadRunFile(where=where, why="the event does not match its digest")
        if _DONE in event:
            done = json.loads(event)
            if done["type"] == _DONE:
                self._given[done.get("path"), done.get("visit")] = done.get("output")
        self._digest = digest
        self._digests += f"{digest}\n".encode()

    def check_end(self, workflow_id: object) -> None:
        """Raises BadRunFile unless no part is missing, the chain holds from its first to its last
        event and the audit record's seal covers it."""
        self._check_parts()
        if self._chain.get("digest", "") != self._digest:
            raise BadRunFile(where="history", why="events are missing at its end")
        if not self._audit:
            raise BadRunFile(where="audit", why="it is missing: a run that is sealed has one")
        if self._audit["workflow_id"] != workflow_id:
            raise BadRunFile(where="audit", why="it is of another run than line 1 says")
        seal = self._audit["history"]
        sealed = self._digests[: seal["events"] * _DIGEST]
        fits = len(sealed) == seal["events"] * _DIGEST
        if not fits or seal["sha256"] != hashlib.sha256(sealed).hexdigest():
            raise BadRunFile(where="audit", why="its seal does not match the history")
        for name, digest in self._outputs.items():
            place = (name.partition("@")[0], self._visits.get(name, 0))
            if self._given.get(place, digest) != digest:
                why = "it does not match its digest in the history"
                raise BadRunFile(where=f"the output of {name[:64]}", why=why)

    def _check_parts(self) -> None:
        """Raises BadRunFile for a part without the one that it belongs to."""
        paths, states = self._names["path"], self._names["state"]
        for kind in ("state", "output", "calls"):
            strange = self._names[kind] - paths
            if strange:
                why = f"there is no path {min(strange)[:64]}, and the file has its {kind}"
                raise BadRunFile(where=f"the {kind} parts", why=why)
        if stateless := (paths | self._top) - states:
            raise BadRunFile(where=f"the path {min(stateless)[:64]}", why="its state is missing")
        if mute := self._done - self._names["output"]:
            why = "its output is missing, and it is done"
            raise BadRunFile(where=f"the state {min(mute)[:64]}", why=why)
        if lost := self._blobs.keys() - self._names["blob"]:
            sha256 = min(lost, key=lambda one: self._blobs[one])
            why = f"blob {sha256[:64]}, to which it refers, is missing"
            raise BadRunFile(where=f"the {self._blobs[sha256]}", why=why)


def _check(number: int, what: str, check: Callable[..., _Value], *given: object) -> _Value:
    """What ``check`` says of the line. Raises BadRunFile where it raises BadPart."""
    try:
        return check(*given)
    except BadPart as error:
        raise BadRunFile(where=f"line {number}", why=f"it is not {what}: {error}") from error
