"""What texts mean: vectors beside the index of words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dcf.late_numpy import np
from dcf.memory.audit.entity import Row
from dcf.memory.database import Connection
from dcf.memory.search import signs
from dcf.memory.search.entry import TABLES, entry_of
from dcf.memory.search.nearest import Distances, Nearest
from dcf.memory.search.place import Places, distinct, is_said
from dcf.memory.search.scope import Scope
from dcf.search import STORED, Embedder, Vectors, name_of, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Characters of the message before that are embedded with one.
_BEFORE = 300
# What the meaning of the message one, two before or after counts.
_NEIGHBOURS = (0.5, 0.25)
# Texts of a scope that is not narrow whose vectors are compared: the nearest by their signs.
_COMPARED = 1_024

Vector: TypeAlias = "NDArray[np.float32]"
Similarities: TypeAlias = "NDArray[np.float64]"
Left: TypeAlias = Callable[[Places], Places]
"""Those of some places that are wanted."""
Suffices: TypeAlias = Callable[[Places, Similarities], bool]
"""Whether no other place can be among the best, if those with a vector are so near to what is
asked."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A text whose vector is to be made. ``version`` is that of the text."""

    place: int
    version: int
    text: str


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
        connection.execute("DELETE FROM search_signs")
        connection.execute("UPDATE search_state SET embedder = ?, embedded = 0", (name,))
    rows = [(one.place, made[one]) for one in _unchanged(connection, list(made))]
    if rows:
        connection.executemany("INSERT OR REPLACE INTO search_vectors VALUES (?, ?)", rows)
        signs.put(connection, signs.chunk_from(rows))
    last = max(one.version for one in made)
    connection.execute("UPDATE search_state SET embedded = max(embedded, ?)", (last,))


def _unchanged(connection: Connection, texts: list[Missing]) -> list[Missing]:
    """Those that are as they were read, in the order of their places."""
    cursor = connection.cursor()
    cursor.row_factory = None
    versions = dict(
        cursor.execute(
            "SELECT place, version FROM search_documents"
            " WHERE place IN (SELECT value FROM json_each(?))",
            (json.dumps([one.place for one in texts]),),
        ).fetchall()
    )
    kept = [one for one in texts if versions.get(one.place) == one.version]
    return sorted(kept, key=lambda one: one.place)


def embedded(embedder: Embedder, texts: list[Missing]) -> dict[Missing, bytes]:
    """Their vectors, as they are kept."""
    return as_kept(texts, embedder.embed([one.text for one in texts]))


def as_kept(texts: list[Missing], rows: Vectors) -> dict[Missing, bytes]:
    """Vectors, one a row, as they are kept."""
    return {one: row.astype(STORED).tobytes() for one, row in zip(texts, rows, strict=True)}


def similarities(
    connection: Connection,
    embedder: Embedder,
    readings: Sequence[str],
    scope: Scope,
    candidates: Places,
    *,
    nearest: Nearest,
    left: Left,
    least: int,
    suffices: Suffices | None,
) -> tuple[Places, Similarities]:
    """Places with a vector, in order, and how near they are to what the ``readings`` of
    a query mean, on average.

    All places of a narrow scope. Of another one the ``candidates``, which words have found, and
    those that are nearest by their signs of all that are ``left``: at least ``least``, if there
    are as many; none where what the candidates have ``suffices`` (None: never).
    """
    state = connection.execute("SELECT embedder FROM search_state").fetchone()
    if state["embedder"] != name_of(embedder):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    # As texts, not as queries: without its stop words a query finds less of what was said.
    asked = unit(embedder.embed(readings).sum(axis=0))
    if scope.is_narrow:
        return _similar(_in_scope(connection, scope), asked)
    if suffices is not None:
        own = _similar(_of(connection, candidates), asked)
        if suffices(*own):
            return own
    far = nearest.distances(connection, asked, scope)
    chosen = _nearest(far, left, max(_COMPARED, least))
    wanted = distinct(np.concatenate([candidates, chosen]))
    near, similar = _similar(_of(connection, _and_beside(wanted)), asked)
    kept = np.isin(near, wanted, assume_unique=True)
    return near[kept], similar[kept]


def _nearest(far: Distances, left: Left, many: int) -> Places:
    """The ``many`` nearest of those that are left, however many others are nearer."""
    found = [np.zeros(0, dtype=np.int64)]
    start, size = 0, many
    while start < len(far) and sum(map(len, found)) < many:
        found.append(left(far.nearest(start + size)[start:]))
        start, size = start + size, 4 * size
    return np.concatenate(found)[:many]


def _and_beside(places: Places) -> Places:
    """Some places with those of the messages beside them."""
    messages = places[is_said(places)]
    steps = range(1, len(_NEIGHBOURS) + 1)
    beside = [messages + sign * step for step in steps for sign in (1, -1)]
    return distinct(np.concatenate([places, *beside]))


def _similar(rows: list[tuple[int, bytes]], asked: Vector) -> tuple[Places, Similarities]:
    """Their places, and how near the vectors there are to the one that is ``asked``."""
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    places = np.array([place for place, _ in rows], dtype=np.int64)
    vectors = np.frombuffer(b"".join(value for _, value in rows), dtype=STORED)
    matrix = vectors.astype(np.float32).reshape(len(rows), -1)
    return places, _with_neighbours(places, (matrix @ asked).astype(np.float64))


def _with_neighbours(places: Places, near: Similarities) -> Similarities:
    """Each message's similarity averaged with those of its neighbours."""
    message = is_said(places)
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
    if scope.only is not None:
        return _of(connection, scope.only)
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
    if row is None or not entry.is_said:
        return entry.meant
    before = _before(connection, document["place"], row)
    return f"{before}\n{entry.meant}" if before else entry.meant


def _before(connection: Connection, place: int, row: Row) -> str:
    """The end of what was said before in the session: an answer means little by itself."""
    document = connection.execute(
        "SELECT kind, ref FROM search_documents WHERE place = ?", (place - 1,)
    ).fetchone()
    before = None if document is None else _row(connection, document)
    entry = None if document is None else entry_of(document["kind"], before)
    if entry is None or before is None or not entry.is_said:
        return ""
    if before.get("session_id") != row.get("session_id"):
        return ""
    said = entry.text[-_BEFORE:]
    return f"{entry.about}: {said}" if entry.about else said


def _row(connection: Connection, document: Mapping[str, Any]) -> Row | None:
    table, ref = TABLES[document["kind"]], document["ref"]
    found = connection.execute(f"SELECT * FROM {table} WHERE id = ?", (ref,)).fetchone()
    return None if found is None else dict(found)
