"""What pieces mean: a vector for each, of one embedder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import chain

from dcf.code.rows import KnownPiece, pieces_by_id
from dcf.late_numpy import np
from dcf.search import STORED, Embedder, Vectors, name_of, spoken

_LONGEST = 4_000
"""Characters of a piece that are embedded: later ones move the mean of its words little."""

# How much the text counts, and by itself the qualified name and its last part: what a function does
# is said there. A similarity to the sum is the sum of the similarities, in one vector.
_PARTS = (0.5, 0.3, 0.2)
# Of which every program is made: they say nothing about what one does, and are most of its words.
_LANGUAGES_SAY = """
    and any as assert async await bool boolean break case catch char class cls const continue def
    default del delete dict do double else elif end enum err except export extends extern false
    final finally float fn for from func function if impl implements import in int interface is
    lambda let list long match mod mut new nil none not null number optional or package pass private
    protected pub public raise range return self short signed static str string struct super switch
    template this throw throws trait true try tuple type typedef typename typeof undefined union
    unsigned use using var void where while with yield
"""
_OF_LANGUAGES = frozenset(_LANGUAGES_SAY.split())


def missing(connection: sqlite3.Connection, embedder: Embedder, limit: int) -> list[KnownPiece]:
    """Up to ``limit`` pieces without a vector of this embedder."""
    state = connection.execute("SELECT embedder FROM about").fetchone()[0]
    without = (
        "SELECT id FROM pieces WHERE id NOT IN (SELECT piece FROM vectors) LIMIT ?"
        if state == name_of(embedder)
        else "SELECT id FROM pieces LIMIT ?"
    )
    ids = [row[0] for row in connection.execute(without, (limit,))]
    return list(pieces_by_id(connection, ids).values())


def are_missing(connection: sqlite3.Connection, embedder: Embedder) -> bool:
    """Whether there are pieces without a vector of this embedder."""
    state, pieces, kept = connection.execute(
        "SELECT embedder, (SELECT count(*) FROM pieces), (SELECT count(*) FROM vectors) FROM about"
    ).fetchone()
    return bool(pieces > (kept if state == name_of(embedder) else 0))


def embedded(embedder: Embedder, pieces: Sequence[KnownPiece]) -> dict[int, bytes]:
    """Their vectors, as they are kept."""
    if not pieces:
        return {}
    parts = [_parts(one) for one in pieces]
    # Many have the same name: each text is embedded once.
    places = {text: at for at, text in enumerate(dict.fromkeys(chain.from_iterable(parts)))}
    rows = embedder.embed(list(places))
    made = {}
    for piece, texts in zip(pieces, parts, strict=True):
        value = sum(part * rows[places[text]] for part, text in zip(_PARTS, texts, strict=True))
        made[piece.id] = np.asarray(value, dtype=STORED).tobytes()
    return made


def keep(
    connection: sqlite3.Connection,
    embedder: Embedder,
    pieces: Sequence[KnownPiece],
    made: dict[int, bytes],
) -> None:
    """Write vectors that were made of ``pieces``, of those that are still what they were: another
    one may have got the id of one that went. Those of another embedder go."""
    name = name_of(embedder)
    if connection.execute("SELECT embedder FROM about").fetchone()[0] != name:
        connection.execute("DELETE FROM vectors")
        connection.execute("UPDATE about SET embedder = ?", (name,))
    there = pieces_by_id(connection, list(made))
    connection.executemany(
        "INSERT OR REPLACE INTO vectors (piece, value) VALUES (?, ?)",
        [(one.id, made[one.id]) for one in pieces if there.get(one.id) == one],
    )


def similarities(
    connection: sqlite3.Connection, embedder: Embedder, asked: Vectors, ids: Sequence[int]
) -> dict[int, float]:
    """How near those of ``ids`` that have a vector are to ``asked``, one row."""
    if connection.execute("SELECT embedder FROM about").fetchone()[0] != name_of(embedder):
        return {}
    rows = connection.execute(
        "SELECT piece, value FROM vectors WHERE piece IN (SELECT value FROM json_each(?))",
        (json.dumps(ids),),
    ).fetchall()
    if not rows:
        return {}
    values = np.frombuffer(b"".join(value for _, value in rows), dtype=STORED)
    near = values.astype(np.float32).reshape(len(rows), -1) @ asked
    return {row[0]: float(one) for row, one in zip(rows, near, strict=True)}


def _parts(piece: KnownPiece) -> tuple[str, str, str]:
    """The text with its name and path, the qualified name, and its last part."""
    name, last = spoken(piece.name), spoken(piece.name.rpartition(".")[2])
    text = (word for word in spoken(piece.text[:_LONGEST]).split() if _tells(word))
    return f"{name}\n{spoken(piece.path)}\n{' '.join(text)}", name, last


def _tells(word: str) -> bool:
    return word.lower() not in _OF_LANGUAGES
