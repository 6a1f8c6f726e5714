"""Bringing an index up to date with the files of a folder."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcf.citation import Citation, InvalidCitation
from dcf.code.files import LARGEST, FileContent, Stamp, read
from dcf.code.piece import CodePiece, cut
from dcf.code.rows import KnownFile, put_file, put_stamp, remove_file
from dcf.problem import Problem
from dcf.secret_form import path_without_secrets

# A file may be written twice within one tick of the clock of its file system.
_FRESH_NS = 2_000_000_000
_UNKNOWN_TIME = -1
_SURELY_CITED = 500
"""Characters of an ASCII path that a citation has room for, each of them escaped."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What an update found, in files: ``unchanged`` are those whose content is what it was.
    ``embedded`` counts pieces. ``problems`` are of files that are not, or not wholly, searched."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def files(self) -> int:
        """All that there are now."""
        return self.added + self.changed + self.unchanged

    def __add__(self, other: Synced) -> Synced:
        return Synced(
            self.added + other.added,
            self.changed + other.changed,
            self.removed + other.removed,
            self.unchanged + other.unchanged,
            self.embedded + other.embedded,
            (*self.problems, *other.problems),
        )


def sync_files(
    connection: sqlite3.Connection, root: Path, paths: Sequence[str], known: Mapping[str, KnownFile]
) -> Synced:
    """Index those of ``paths`` that are not as they are ``known``. What vanished meanwhile, or may
    not be read, goes; what has a secret in its path, or cannot be cited by it, is not indexed."""
    total = Synced()
    for path in paths:
        told = path_without_secrets(path)
        if told != path:
            total += Synced(problems=(_secret_path(told),))
            continue
        if not _is_citable(path):
            total += Synced(problems=(_no_citation(path),))
            continue
        before = known.get(path)
        try:
            source = read(root, path, before.stamp if before else None)
        except OSError as error:
            remove_file(connection, path)
            total += Synced(removed=int(before is not None), problems=_unread(path, error))
            continue
        total += _sync_file(connection, path, before, source)
    return total


def remove_files(connection: sqlite3.Connection, paths: Sequence[str]) -> Synced:
    """Files that are not there any more."""
    for path in paths:
        remove_file(connection, path)
    return Synced(removed=len(paths))


def _sync_file(
    connection: sqlite3.Connection, path: str, before: KnownFile | None, source: FileContent | None
) -> Synced:
    if source is None:
        return Synced(unchanged=1, problems=before.problems if before else ())
    stamp = _lasting(source.stamp)
    digest = b"" if source.data is None else hashlib.sha256(source.data).digest()
    if before is not None and source.data is not None and before.digest == digest:
        put_stamp(connection, path, stamp)
        return Synced(unchanged=1, problems=before.problems)
    pieces, odd = _pieces(path, source.data)
    problems = (source.problem, *odd) if source.problem else tuple(odd)
    put_file(connection, path, KnownFile(stamp, digest, problems), pieces)
    counted = Synced(added=1) if before is None else Synced(changed=1)
    return counted + Synced(problems=problems)


def _pieces(path: str, data: bytes | None) -> tuple[Sequence[CodePiece], list[Problem]]:
    if data is None:
        return (), []
    # Errors in it are a problem already; with the sign of Windows, the first name is not one.
    return cut(path, data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _lasting(stamp: Stamp) -> Stamp:
    """By which the file is known later. One that was just written may be written again without
    another time: its content is looked at again next time."""
    fresh = stamp.mtime_ns > time.time_ns() - _FRESH_NS
    return Stamp(stamp.size, _UNKNOWN_TIME) if fresh else stamp


def _secret_path(told: str) -> Problem:
    message = "its path has in it what only a secret looks like: it is not searched"
    hint = "rename the file: what is found is cited by its path"
    return Problem("code_file_secret", message, "", hint, "warning", told)


def _is_citable(path: str) -> bool:
    if path.isascii() and path.isprintable() and len(path) <= _SURELY_CITED:
        return True
    try:
        Citation("code", path, "line", number=1, last=LARGEST)
    except InvalidCitation:
        return False
    return True


def _no_citation(path: str) -> Problem:
    message = "its path has control characters, or is too long to be cited: it is not searched"
    hint = "rename the file: what is found is cited by its path"
    shown = path[:_SURELY_CITED]
    return Problem("code_file_name", message, "", hint, "warning", shown)


def _unread(path: str, error: OSError) -> tuple[Problem, ...]:
    if isinstance(error, FileNotFoundError):
        return ()
    message = f"it cannot be read: {error.strerror}"
    return (Problem("code_file_unread", message, "", "", "warning", path),)
