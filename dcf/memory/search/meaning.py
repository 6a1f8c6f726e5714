"""What texts mean: vectors beside the index of words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dcf.late_numpy import np
from dcf.memory.audit.entity import Row
from dcf.memory.database import Connection
from dcf.memory.entities import ENTITIES
from dcf.memory.search.entry import entry_of
from dcf.memory.search.place import Places, is_message
from dcf.memory.search.scope import Scope
from dcf.search import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Half the size, and three digits are enough to rank by.
_STORED = "<f2"
# Characters of the message before that are embedded with one.
_BEFORE = 300
# What the meaning of the message one, two before or after counts.
_NEIGHBOURS = (0.5, 0.25)

Similarities: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Missing:
    """A text whose vector is to be made. ``version`` is that of the text."""

    place: int
    version: int
    text: str


def name_of(embedder: Embedder) -> str:
    """Says which vectors may be compared."""
    return f"{embedder.name} {embedder.version}"


def missing(connection: Connection, embedder: Embedder, limit: int) -> list[Missing]:
    """Up to ``limit`` texts without a vector of this embedder, the oldest first."""
    state = connection.execute("SELECT embedder, embedded FROM search_state").fetchone()
    done = state["embedded"] if state["embedder"] == name_of(embedder) else 0
    rows = connection.execute(
        "SELECT place, kind, ref, version FROM search_documents WHERE version > ?"
        " ORDER BY version LIMIT ?",
        (done, limit),
    ).fetchall()
    return [Missing(row["place"], row["version"], _text(connection, row)) for row in rows]


def keep(connection: Connection, embedder: Embedder, made: Mapping[Missing, bytes]) -> None:
    """Write vectors. What changed since it was read has another version, and its turn will come."""
    name = name_of(embedder)
    state = connection.execute("SELECT embedder, embedded FROM search_state").fetchone()
    if state["embedder"] != name:
        connection.execute("DELETE FROM search_vectors")
        connection.execute("UPDATE search_state SET embedder = ?, embedded = 0", (name,))
    connection.executemany(
        "INSERT OR REPLACE INTO search_vectors (place, value)"
        " SELECT place, ? FROM search_documents WHERE place = ? AND version = ?",
        [(value, one.place, one.version) for one, value in made.items()],
    )
    last = max(one.version for one in made)
    connection.execute("UPDATE search_state SET embedded = max(embedded, ?)", (last,))


def embedded(embedder: Embedder, texts: list[Missing]) -> dict[Missing, bytes]:
    """Their vectors, as they are kept."""
    rows = embedder.embed([one.text for one in texts])
    return {one: row.astype(_STORED).tobytes() for one, row in zip(texts, rows, strict=True)}


def similarities(
    connection: Connection, embedder: Embedder, query: str, scope: Scope, candidates: Places
) -> tuple[Places, Similarities]:
    """Places with a vector, in order, and how near they are to what ``query`` means.

    All places of the scope; in a wide one only the ``candidates``, which words have found.
    """
    state = connection.execute("SELECT embedder FROM search_state").fetchone()
    if state["embedder"] != name_of(embedder):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    rows = _in_scope(connection, scope) if scope.is_narrow else _of(connection, candidates)
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    places = np.array([place for place, _ in rows], dtype=np.int64)
    vectors = np.frombuffer(b"".join(value for _, value in rows), dtype=_STORED)
    matrix = vectors.astype(np.float32).reshape(len(rows), -1)
    near = (matrix @ embedder.embed_queries([query])[0]).astype(np.float64)
    return places, _with_neighbours(places, near)


def _with_neighbours(places: Places, near: Similarities) -> Similarities:
    """Each message's similarity averaged with those of its neighbours."""
    message = is_message(places)
    if not message.any():
        return near
    total, weight = near.copy(), np.ones(len(near))
    for distance, share in enumerate(_NEIGHBOURS, 1):
        for step in (distance, -distance):
            at = np.minimum(np.searchsorted(places, places + step), len(places) - 1)
            there = message & (places[at] == places + step)
            total += np.where(there, share * near[at], 0)
            weight += np.where(there, share, 0)
    averaged: Similarities = total / weight
    return averaged


def _in_scope(connection: Connection, scope: Scope) -> list[tuple[int, bytes]]:
    cursor = connection.cursor()
    cursor.row_factory = None
    rows: list[tuple[int, bytes]] = []
    for stretch in scope.stretches:
        rows += cursor.execute(
            "SELECT place, value FROM search_vectors WHERE place BETWEEN ? AND ? ORDER BY place",
            (stretch.first, stretch.last),
        ).fetchall()
    return rows


def _of(connection: Connection, places: Places) -> list[tuple[int, bytes]]:
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(
        "SELECT place, value FROM search_vectors"
        " WHERE place IN (SELECT value FROM json_each(?)) ORDER BY place",
        (json.dumps(places.tolist()),),
    ).fetchall()


def _text(connection: Connection, document: Mapping[str, Any]) -> str:
    row = _row(connection, document)
    entry = entry_of(document["kind"], row)
    if entry is None:
        return ""
    if row is None or entry.kind != "message":
        return entry.meant
    before = _before(connection, document["place"], row)
    return f"{before}\n{entry.meant}" if before else entry.meant


def _before(connection: Connection, place: int, row: Row) -> str:
    """The end of what was said before in the session: an answer means little by itself."""
    document = connection.execute(
        "SELECT kind, ref FROM search_documents WHERE place = ? AND kind = 'message'", (place - 1,)
    ).fetchone()
    before = None if document is None else _row(connection, document)
    entry = entry_of("message", before)
    if entry is None or before is None or before["session_id"] != row["session_id"]:
        return ""
    said = entry.text[-_BEFORE:]
    return f"{entry.about}: {said}" if entry.about else said


def _row(connection: Connection, document: Mapping[str, Any]) -> Row | None:
    return ENTITIES[document["kind"]].find(connection, document["ref"])
