"""The rows of an index: files, their pieces, and the words of these."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dcf.code.files import Stamp
from dcf.code.identifiers import synonyms, told
from dcf.code.piece import CodePiece
from dcf.problem import Problem

_PIECE = "p.id, f.path, p.first_line, p.last_line, p.name, p.kind, p.begins, {}"

_A_NAME = 100
"""Pieces in which one name is looked for: one that stands in more is no news."""
_MOST_NAMING = 400


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the index has it."""

    stamp: Stamp
    digest: bytes
    problems: tuple[Problem, ...]


class KnownPiece(NamedTuple):
    """A piece as the index has it: ``name`` is the qualified name of what it defines or stands in,
    ``begins`` has the names of all definitions that begin in it; both may be empty."""

    id: int
    path: str
    first_line: int
    last_line: int
    name: str
    kind: str
    begins: str
    text: str


def files(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, KnownFile]:
    """Those of ``paths`` that are indexed."""
    rows = connection.execute(
        "SELECT path, size, mtime_ns, digest, problems FROM files"
        " WHERE path IN (SELECT value FROM json_each(?))",
        (json.dumps(paths),),
    )
    return {
        path: KnownFile(
            Stamp(size, mtime_ns), digest, tuple(Problem(**one) for one in json.loads(problems))
        )
        for path, size, mtime_ns, digest, problems in rows
    }


def digests(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, bytes]:
    """Of those of ``paths`` that are indexed, by path."""
    rows = connection.execute(
        "SELECT path, digest FROM files WHERE path IN (SELECT value FROM json_each(?))",
        (json.dumps(paths),),
    )
    return dict(rows.fetchall())


def stamps(connection: sqlite3.Connection) -> list[tuple[str, int, int]]:
    """By which each file is known: its path, size and time of change in ns."""
    return connection.execute("SELECT path, size, mtime_ns FROM files").fetchall()


def known_problems(connection: sqlite3.Connection) -> tuple[Problem, ...]:
    """What is wrong with files, by path."""
    rows = connection.execute("SELECT problems FROM files WHERE problems <> '[]' ORDER BY path")
    return tuple(Problem(**one) for (text,) in rows for one in json.loads(text))


def put_stamp(connection: sqlite3.Connection, path: str, stamp: Stamp) -> None:
    """A file that was touched and is what it was."""
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?",
        (stamp.size, stamp.mtime_ns, path),
    )


def put_file(
    connection: sqlite3.Connection, path: str, file: KnownFile, pieces: Sequence[CodePiece]
) -> None:
    """A file that is new or was changed, in place of what was at its path."""
    remove_file(connection, path)
    problems = json.dumps([one.to_dict() for one in file.problems], ensure_ascii=False)
    at = connection.execute(
        "INSERT INTO files (path, size, mtime_ns, digest, problems) VALUES (?, ?, ?, ?, ?)",
        (path, file.stamp.size, file.stamp.mtime_ns, file.digest, problems),
    ).lastrowid
    for piece in pieces:
        name = piece.symbol.qualified_name if piece.symbol else ""
        kind = piece.symbol.kind if piece.symbol else ""
        begins = " ".join(piece.names)
        key = connection.execute(
            "INSERT INTO pieces (file, first_line, last_line, name, kind, begins, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (at, piece.first_line, piece.last_line, name, kind, begins, piece.text),
        ).lastrowid
        connection.execute(
            "INSERT INTO words (rowid, name, said, path, body) VALUES (?, ?, ?, ?, ?)",
            (key, *indexed(name, begins, path, piece.text)),
        )


def remove_file(connection: sqlite3.Connection, path: str) -> None:
    """A file and all that is known of it, words too: they go by what was indexed for them."""
    for piece in _pieces(connection, "f.path = ?", (path,)):
        connection.execute(
            "INSERT INTO words (words, rowid, name, said, path, body)"
            " VALUES ('delete', ?, ?, ?, ?, ?)",
            (piece.id, *indexed(piece.name, piece.begins, piece.path, piece.text)),
        )
        connection.execute("DELETE FROM vectors WHERE piece = ?", (piece.id,))
    connection.execute(
        "DELETE FROM pieces WHERE file = (SELECT id FROM files WHERE path = ?)", (path,)
    )
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def indexed(name: str, begins: str, path: str, text: str) -> tuple[str, str, str, str]:
    """What is indexed of a piece: its names, what else is said for their words, its path, and its
    text."""
    names = f"{name} {begins}"
    return told(names), synonyms(names), told(path), told(text)


def pieces_by_id(
    connection: sqlite3.Connection, ids: Sequence[int], *, with_texts: bool = True
) -> dict[int, KnownPiece]:
    """Those of ``ids`` that are there; without their texts these are empty."""
    where, values = "p.id IN (SELECT value FROM json_each(?))", (json.dumps(ids),)
    found = _pieces(connection, where, values, "p.text" if with_texts else "''")
    return {one.id: one for one in found}


def _pieces(
    connection: sqlite3.Connection, where: str, values: tuple[object, ...], text: str = "p.text"
) -> list[KnownPiece]:
    what = _PIECE.format(text)
    rows = connection.execute(
        f"SELECT {what} FROM pieces p JOIN files f ON f.id = p.file WHERE {where}", values
    )
    return [KnownPiece(*row) for row in rows.fetchall()]


def naming_pieces(connection: sqlite3.Connection, names: Sequence[str]) -> list[int]:
    """Pieces with a word that may be one of ``names``."""
    found: dict[int, None] = {}
    for name in names:
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? LIMIT {_A_NAME}", (f'body : "{name}"',)
        )
        found.update((row, None) for (row,) in rows)
    return list(found)[:_MOST_NAMING]


def lines_of(names: Sequence[str], piece: KnownPiece) -> Mapping[str, int]:
    """The names that stand in a piece as whole words, each with its first line."""
    if not names:
        return {}
    either = "|".join(map(re.escape, names))
    found: dict[str, int] = {}
    for match in re.finditer(rf"(?<!\w)(?:{either})(?!\w)", piece.text):
        if match[0] not in found:
            found[match[0]] = piece.first_line + piece.text.count("\n", 0, match.start())
    return found
