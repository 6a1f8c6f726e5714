"""The file of an exported run: gzip of lines of JSON.

The first line is ``{"format": "dcf-run", "version": 1, "workflow_id": …}``, the second ``{"meta":
…}``, then one a part, ``{"kind", "name", "text"}``; the last is ``{"lines", "sha256"}`` over all
before it. Who reads one checks these, the digest chain of the history, the seal of the audit record
and every blob's digest, and reads no more than ``LARGEST`` bytes, however small the file is.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any, cast

from control_plane import history, payload
from control_plane.documents import RUN_OVER, StateDocument
from control_plane.errors import BadName, ControlPlaneError
from control_plane.keys import check_workflow_id, split_path
from control_plane.run_export import KINDS, Kind, NotExportable, Part, RunExport

FORMAT, VERSION = "dcf-run", 1
LARGEST = 512 * 1024 * 1024
"""Bytes of a file's content, uncompressed."""
_PATHS = frozenset({"path", "state", "output", "calls"})
_ARRAYS = frozenset({"calls", "chain", "agents", "history"})


class BadRunFile(ControlPlaneError):
    """{where}: {why}."""

    # Fields: where, the line or the part that is wrong; why.
    code = "bad_run_file"


def pack(export: RunExport) -> bytes:
    """The file of a run. Raises NotExportable for one that is too large to be read again."""
    workflow_id = export.run.workflow_id
    header = {"format": FORMAT, "version": VERSION, "workflow_id": workflow_id}
    parts = ({"kind": p.kind, "name": p.name, "text": p.text} for p in export.parts)
    lines = [payload.to_text(one) for one in (header, {"meta": export.meta}, *parts)]
    body = "".join(f"{line}\n" for line in lines).encode()
    if len(body) > LARGEST - 1_000:
        why = f"has {len(body):,} bytes, more than the {LARGEST:,} of a file"
        raise NotExportable(workflow_id=workflow_id, why=why)
    end = {"lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
    return gzip.compress(body + f"{payload.to_text(end)}\n".encode(), mtime=0)


def unpack(data: bytes) -> RunExport:
    """The run in a file, checked whole. Raises BadRunFile."""
    lines = _lines(data)
    header = _record(lines[0], 1)
    if header.get("format") != FORMAT:
        raise BadRunFile(where="line 1", why="this is not an exported run")
    if header.get("version") != VERSION:
        why = f"format {header.get('version')!r} is not known, only {VERSION}; update dcf-agents"
        raise BadRunFile(where="line 1", why=why)
    _check_end(lines)
    meta = _record(lines[1], 2).get("meta")
    parts = [_part(_record(line, at), at) for at, line in enumerate(lines[2:-1], 3)]
    export = RunExport(meta if isinstance(meta, str) else "", tuple(parts))
    _check_run(export, header.get("workflow_id"))
    _check_history(export)
    return export


def _lines(data: bytes) -> list[bytes]:
    """All lines of the content. Raises BadRunFile for what is damaged, cut off or too large."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        body = unpacker.decompress(data, LARGEST)
    except zlib.error as error:
        why = f"this is not an exported run, or it is damaged ({error})"
        raise BadRunFile(where="the file", why=why) from error
    if unpacker.unconsumed_tail:
        why = f"its content has more than {LARGEST:,} bytes"
        raise BadRunFile(where="the file", why=why)
    if not unpacker.eof or unpacker.unused_data:
        what = "something follows its end" if unpacker.eof else "its end is missing"
        raise BadRunFile(where="the file", why=f"it is damaged: {what}")
    lines = body.split(b"\n")
    if len(lines) < 4 or lines.pop():
        raise BadRunFile(where="the file", why="this is not an exported run")
    return lines


def _check_end(lines: Sequence[bytes]) -> None:
    end = _record(lines[-1], len(lines))
    body = b"".join(line + b"\n" for line in lines[:-1])
    expected = {"lines": len(lines) - 1, "sha256": hashlib.sha256(body).hexdigest()}
    if end != expected:
        raise BadRunFile(where=f"line {len(lines)}", why="its digest does not fit: it was changed")


def _record(line: bytes, number: int) -> dict[str, Any]:
    value = _json(line, f"line {number}")
    if not isinstance(value, dict):
        raise BadRunFile(where=f"line {number}", why="it is not a JSON object")
    return value


def _json(text: str | bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRunFile(where=where, why=f"it is not JSON ({error})") from error


def _part(record: dict[str, Any], number: int) -> Part:
    where = f"line {number}"
    kind, name, text = record.get("kind"), record.get("name"), record.get("text")
    if kind not in KINDS or not isinstance(name, str) or not isinstance(text, str):
        raise BadRunFile(where=where, why="it is not a part of a run: {kind, name, text}")
    if kind in _PATHS:
        try:
            split_path(name)
        except BadName as error:
            raise BadRunFile(where=where, why=str(error)) from error
    if kind == "blob" and payload.digest(text) != name:
        raise BadRunFile(where=where, why=f"blob {name[:64]} does not match its digest")
    if kind not in ("path", "blob"):
        value = _json(text, where)
        if kind in _ARRAYS:
            good = isinstance(value, list) and all(isinstance(one, str) for one in value)
            size = len(value) if good else 0
            good = bool(size) and (size == 4 if kind == "history" else size % 2 == 0)
            good = good and (kind != "history" or _is_event(value, where))
        else:
            good = isinstance(value, dict) and (kind != "state" or _is_state(text))
        if not good:
            raise BadRunFile(where=where, why=f"it is not the {kind} of a run")
    return Part(cast(Kind, kind), name, text)


def _is_event(fields: Sequence[str], where: str) -> bool:
    _, at, event, _ = fields
    return at.isascii() and at.isdecimal() and isinstance(_json(event, where), dict)


def _is_state(text: str) -> bool:
    try:
        StateDocument.parse(text)
    except (LookupError, TypeError, AttributeError, ValueError):
        return False
    return True


def _check_run(export: RunExport, workflow_id: object) -> None:
    _json(export.meta, "line 2")
    try:
        run = export.run
        check_workflow_id(run.workflow_id)
        sealed = run.status in RUN_OVER and run.finalized_at is not None and not run.removing
    except (KeyError, TypeError, AttributeError, BadName) as error:
        raise BadRunFile(where="line 2", why="it is not the document of a run") from error
    if run.workflow_id != workflow_id or not sealed:
        raise BadRunFile(where="line 2", why="it is not the document of this run, or not sealed")


def _check_history(export: RunExport) -> None:
    """Raises BadRunFile unless the chain holds from its first to its last event and the audit
    record's seal covers it."""
    previous, digests, seal = "", [], hashlib.sha256()
    of_kind = {part.kind: part.text for part in export.parts if part.kind in ("chain", "audit")}
    audit = json.loads(of_kind.get("audit", "{}")).get("history") or {}
    for part in export.parts:
        if part.kind != "history":
            continue
        entry, at, event, digest = json.loads(part.text)
        if history.link(previous, ["at", at, "event", event]) != digest:
            raise BadRunFile(where=f"history {entry}", why="the event does not match its digest")
        previous = digest
        digests.append(digest)
        if len(digests) <= audit.get("events", 0):
            seal.update(f"{digest}\n".encode())
    flat = json.loads(of_kind.get("chain", "[]"))
    chain = dict(zip(flat[::2], flat[1::2], strict=True))
    if chain.get("digest", "") != previous:
        raise BadRunFile(where="history", why="events are missing at its end")
    if len(digests) < audit.get("events", 0) or audit.get("sha256") != seal.hexdigest():
        raise BadRunFile(where="audit", why="its seal does not match the history")
