"""Places that a stack trace names, and the places of an index that these are."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_MOST = 40
"""Places of one question: behind these a trace is the program's frame, not its fault."""
_LONGEST_NAME = 255
"""Octets of the name of a file, on usual file systems. SQLite takes no pattern of any length."""
_SIGN = r"[^\s\"'():,;<>|]"
_FILE = rf"(?P<path>{_SIGN}+\.[A-Za-z]\w{{0,9}})"
_PYTHON = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d{1,7})')
_BEFORE = r"(?:^|(?<=[\s(@\[\"'=]))"
# What bundlers call the folder of a project, and of a part of it: webpack-internal:///(rsc)/./a.ts.
_BUNDLER = r"webpack(?:-internal)?://"
_SCHEME = rf"(?:file://|{_BUNDLER}(?:[\w.-]*/)?(?:\([\w-]+\)/)?)?"
# As compilers, Node, Go, Rust and grep write it (a.ts:12:5), Java (A.java:12), the compiler of
# TypeScript and MSBuild (a.ts(12,5)), and Maven (A.java:[12,5]). What is no such place is read to
# its end or the next scheme, and not again from each sign in it that a path may follow.
_OTHERS = re.compile(
    rf"{_BEFORE}(?:{_SCHEME}{_FILE}(?::(?P<line>\d{{1,7}})(?![\w.])"
    rf"|\((?P<inside>\d{{1,7}})(?:,\d+)*\)|:\[(?P<listed>\d{{1,7}})(?:,\d+)*\])"
    rf"|(?>(?:(?!file://|{_BUNDLER}){_SIGN})+))",
    re.MULTILINE,
)
_NEWEST_LAST = "most recent call last"


@dataclass(frozen=True, slots=True)
class Named:
    """A line of a file, from 1, by the path that a trace gives it."""

    path: str
    line: int


def named_places(text: str) -> tuple[Named, ...]:
    """The places that ``text`` names, that of the fault first, each once.

    >>> named_places('  File "shop/pay.py", line 12, in pay')
    (Named(path='shop/pay.py', line=12),)
    """
    frames = [_named(found) for found in _PYTHON.finditer(text)]
    if _NEWEST_LAST in text:
        frames.reverse()
    others = [_named(found) for found in _OTHERS.finditer(text) if found["path"]]
    return tuple(dict.fromkeys((*frames, *others)))[:_MOST]


def indexed_places(connection: sqlite3.Connection, named: Sequence[Named]) -> dict[int, Named]:
    """The pieces at places that are indexed, in their order. A path is that of a file whose path
    ends with it, or that it ends with: a trace may come from another folder or machine. Where
    several fit, the longest shared end decides; with the same, none is meant more than others."""
    found: dict[int, Named] = {}
    for place in named:
        for path in _meant(connection, place.path):
            row = connection.execute(
                "SELECT p.id FROM pieces p JOIN files f ON f.id = p.file"
                " WHERE f.path = ? AND p.first_line <= ? AND p.last_line >= ?",
                (path, place.line, place.line),
            ).fetchone()
            if row is not None:
                found.setdefault(row[0], Named(path, place.line))
    return found


def meant_paths(paths: Sequence[str], named: Sequence[Named]) -> Iterator[str]:
    """Those of ``paths`` that the places may be in, in their order."""
    ends = {place.path.rpartition("/")[2] for place in named}
    same_name = [path for path in paths if path.rpartition("/")[2] in ends]
    for place in named:
        yield from (path for path in same_name if _shared(path, place.path))


def _named(found: re.Match[str]) -> Named:
    path = found["path"].replace("\\", "/").removeprefix("./")
    lines = found.groupdict()
    lines.pop("path")
    return Named(path, int(next(filter(None, lines.values()))))


def _meant(connection: sqlite3.Connection, path: str) -> list[str]:
    name = path.rpartition("/")[2]
    if len(name) > _LONGEST_NAME:
        return []
    rows = connection.execute(
        "SELECT path FROM files WHERE path = ? OR path LIKE ? ESCAPE '\\'",
        (name, _like(name)),
    )
    shared = {one: _shared(one, path) for (one,) in rows}
    most = max(shared.values(), default=0)
    return [one for one, parts in shared.items() if parts == most and most]


def _like(name: str) -> str:
    escaped = re.sub(r"([%_\\])", r"\\\1", name)
    return f"%/{escaped}"


def _shared(one: str, other: str) -> int:
    """How many of their last parts two paths share, if one is the end of the other; else 0."""
    ours, theirs = one.split("/")[::-1], other.strip("/").split("/")[::-1]
    count = min(len(ours), len(theirs))
    return count if ours[:count] == theirs[:count] else 0
