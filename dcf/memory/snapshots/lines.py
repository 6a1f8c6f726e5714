"""The lines of a snapshot: a header, and the versions of a checkpoint, each with a digest."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from dcf.memory.actor import Actor, ActorKind
from dcf.memory.checking import MOMENTS
from dcf.memory.snapshot import Snapshot
from dcf.memory.snapshots.errors import SnapshotTooLarge, SnapshotTooNew, SnapshotUnreadable
from dcf.memory.snapshots.sealed import END, LARGEST, LONGEST, sealed, unsealed
from dcf.memory.snapshots.version import ENTITIES, Kind, Version, last_rows
from dcf.problem import Problem

FORMAT, VERSION = "dcf-checkpoint", 1
_MARK = b',"sha256":"'
_MOST_DAMAGE = 1_000
"""Damaged lines after which no more are read: the list is for people."""
_DIGITS = 16
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")
_MOST = 1 << 53


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file says: its ``header``, the versions that are whole, each with its line, and what
    is wrong."""

    header: dict[str, Any]
    versions: tuple[tuple[int, Version], ...]
    damage: tuple[Problem, ...]


class _BadLine(ValueError):
    """A line is not what was written."""


def written(snapshot: Snapshot, versions: Sequence[Version]) -> bytes:
    """The file of a checkpoint. Raises SnapshotTooLarge."""
    counts = {name: getattr(snapshot, name) for name in ("nodes", "entries", "versions")}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "checkpoint": snapshot.checkpoint,
        "project": snapshot.project,
        "made_at": snapshot.made_at,
        "embedder": snapshot.embedder,
        "counts": counts,
    }
    lines = [_line(header)]
    for one in versions:
        by = [one.by.kind, one.by.name, one.by.reason]
        lines.append(_line({"kind": one.kind, "row": dict(one.row), "at": one.at, "by": by}))
    size = sum(map(len, lines))
    for found, most in ((size, LARGEST), (max(map(len, lines)), LONGEST)):
        if found > most:
            raise SnapshotTooLarge(path=snapshot.file, found=found, most=most)
    return sealed(b"".join(lines), counts)


def read(data: bytes, path: Path) -> Contents:
    """What is in the file ``path`` with these bytes. Raises SnapshotTooNew, and SnapshotUnreadable
    where not even its first line is whole."""
    found = unsealed(data)
    header_line, *lines = found.lines.split(b"\n")[:-1] or [b""]
    if not header_line and found.why is not None:
        raise SnapshotUnreadable(path=path, reason=f"line 1: {found.why}")
    try:
        header = _header(_value(header_line), path)
    except _BadLine as error:
        raise SnapshotUnreadable(path=path, reason=f"line 1: {error}") from None
    if lines and lines[-1].startswith(END):
        # Who packed the lines anew put the last one beside them.
        lines.pop()
    counts = header["counts"]
    versions: list[tuple[int, Version]] = []
    damage: list[Problem] = []
    for number, line in enumerate(lines, 2):
        if len(damage) == _MOST_DAMAGE:
            why = f"{_MOST_DAMAGE:,} lines before are damaged: what follows was not read"
            damage.append(damaged(why, number, path))
            break
        try:
            versions.append((number, _version(_value(line))))
        except _BadLine as error:
            damage.append(damaged(str(error), number, path))
    if not found.is_whole(counts):
        missing = counts["versions"] - len(lines)
        lost = f"; {missing:,} more lines are missing" if missing > 0 else ""
        why = found.why or "the file is not as it was written: its end does not fit what is before"
        damage.append(damaged(f"{why}{lost}", len(lines) + 2, path))
    return Contents(header, tuple(versions), tuple(damage))


def damaged(why: str, line: int, path: Path) -> Problem:
    """That a line of a snapshot is not whole."""
    return Problem("memory_snapshot_line", why, line=line, file=str(path))


def counts_of(versions: Sequence[Version]) -> dict[str, int]:
    """How many nodes and entries there are, by how many versions."""
    nodes, entries = (len(last_rows(versions, kind)) for kind in ENTITIES)
    return {"nodes": nodes, "entries": entries, "versions": len(versions)}


def _line(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return text[:-1] + _MARK + _digest(text) + b'"}\n'


def _value(line: bytes) -> dict[str, Any]:
    """The object that a line is, if it has the digest that it names. Raises _BadLine."""
    text, mark, end = line.rpartition(_MARK)
    if not mark or _digest(text + b"}") + b'"}' != end:
        raise _BadLine("the digest of the line is missing, or another one")
    try:
        value = json.loads(text + b"}")
    except (ValueError, RecursionError) as error:
        raise _BadLine(f"it is no JSON ({error})") from None
    return cast(dict[str, Any], value)


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:_DIGITS].encode()


def _header(value: dict[str, Any], path: Path) -> dict[str, Any]:
    if value.get("format") != FORMAT:
        raise _BadLine(f"it is not the header of a {FORMAT}")
    if value.get("version") != VERSION:
        raise SnapshotTooNew(path=path, found=value.get("version"), known=VERSION)
    counts = value.get("counts")
    _demand(isinstance(counts, dict), "counts")
    for name in ("nodes", "entries", "versions"):
        _demand(_is_whole(cast(dict[str, Any], counts).get(name)), f"counts.{name}")
    for name in ("checkpoint", "project"):
        _demand(isinstance(value.get(name), str), name)
    return value


def _version(value: dict[str, Any]) -> Version:
    """Raises _BadLine."""
    kind, row, at, by = (value.get(name) for name in ("kind", "row", "at", "by"))
    _demand(kind in ENTITIES, "kind")
    _demand(_is_time(at), "at")
    _demand(isinstance(by, list) and len(by) == 3 and all(isinstance(it, str) for it in by), "by")
    who, name, reason = cast(list[str], by)
    _demand(who in get_args(ActorKind), "by")
    checks = _NODE if kind == "node" else _ENTRY
    _demand(isinstance(row, dict) and row.keys() == checks.keys(), "row")
    columns = cast(dict[str, Any], row)
    for column, check in checks.items():
        _demand(check(columns[column]), f"row.{column}")
    actor = Actor(cast(ActorKind, who), name, reason)
    return Version(cast(Kind, kind), columns, cast(int, at), actor)


def _demand(holds: bool, member: str) -> None:
    if not holds:
        raise _BadLine(f"its {member} is not what a snapshot has there")


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST


def _is_time(value: object) -> bool:
    return type(value) is int and value in MOMENTS


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_id(value: object) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_score(value: object) -> bool:
    # Not `isfinite`, which fails for an integer beyond all floats.
    return value is None or (type(value) in (int, float) and abs(cast(float, value)) < math.inf)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


_BOTH = {
    "id": _is_id,
    "metadata": _is_object,
    "revision": _is_whole,
    "created_at": _is_time,
    "updated_at": _is_time,
}
_NODE = {
    **_BOTH,
    "name": _is_text,
    "parent": lambda value: value is None or _is_id(value),
    "title": _is_text,
    "score": _is_score,
}
_ENTRY = {
    **_BOTH,
    "node_id": _is_id,
    "kind": _is_text,
    "text": _is_text,
    "shadows": lambda value: value is None or _is_id(value),
}
