"""The signs of vectors, from which those near another one are chosen: 64 bytes instead of 1,024.

They stand beside the vectors and are written with them. Each chunk has up to 1,024 places that
follow each other, from ``first`` until the next one begins, and their signs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.place import Places
from dcf.search import STORED

if TYPE_CHECKING:
    from numpy.typing import NDArray

Bits: TypeAlias = "NDArray[np.uint64]"
"""A row for every 64 numbers of a vector, a column for each vector; 1 where a number is positive,
the first number lowest."""

_MOST = 1_024
_PLACE = "<i8"
_WORD = "<u8"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Places in order, and the signs of the vectors there."""

    places: Places
    bits: Bits


def bits_of(vectors: NDArray[np.floating]) -> Bits:
    """The signs of vectors, one a row."""
    packed = np.packbits(vectors > 0, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded.view(_WORD).T)


def chunk_of(row: tuple[bytes, bytes]) -> Chunk:
    """A chunk from its columns ``places`` and ``bits``."""
    places = np.frombuffer(row[0], dtype=_PLACE)
    return Chunk(places, np.frombuffer(row[1], dtype=_WORD).reshape(-1, len(places)))


def put(connection: Connection, new: Chunk) -> None:
    """Write signs, over others of the same places."""
    start = 0
    while start < len(new.places):
        first, until = _around(connection, int(new.places[start]))
        end = len(new.places) if until is None else int(np.searchsorted(new.places, until))
        part = Chunk(new.places[start:end], new.bits[:, start:end])
        _write(connection, first, _joined(_read(connection, first), part))
        start = end


def drop(connection: Connection, place: int) -> None:
    """Take the signs at a place out."""
    first, _ = _around(connection, place)
    chunk = _read(connection, first)
    if chunk is None:
        return
    kept = chunk.places != place
    _write(connection, first, [Chunk(chunk.places[kept], chunk.bits[:, kept])])


def wrong_places(connection: Connection) -> Iterator[int]:
    """Where there are not the signs of the vector, or some without one."""
    held = {
        place: signs.tobytes()
        for row in _rows(connection, "SELECT places, bits FROM search_signs")
        for place, signs in zip(*_columns(chunk_of(row)), strict=True)
    }
    for chunk in _of_vectors(connection):
        for place, signs in zip(*_columns(chunk), strict=True):
            if held.pop(place, None) != signs.tobytes():
                yield place
    yield from held


def _columns(chunk: Chunk) -> tuple[list[int], Bits]:
    return chunk.places.tolist(), chunk.bits.T


def _around(connection: Connection, place: int) -> tuple[int, int | None]:
    """Where the chunk that has a place begins, or would, and where the next one does."""
    first, until = connection.execute(
        "SELECT (SELECT max(first) FROM search_signs WHERE first <= ?1),"
        " (SELECT min(first) FROM search_signs WHERE first > ?1)",
        (place,),
    ).fetchone()
    return place if first is None else first, until


def _read(connection: Connection, first: int) -> Chunk | None:
    sql = "SELECT places, bits FROM search_signs WHERE first = ?"
    row = next(_rows(connection, sql, first), None)
    return None if row is None else chunk_of(row)


def _rows(connection: Connection, sql: str, *values: int) -> Iterator[tuple[bytes, bytes]]:
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, values)


def _joined(old: Chunk | None, new: Chunk) -> list[Chunk]:
    """Both as one, or as several where they have too many places."""
    whole = new if old is None else _merged(old, new)
    size = len(whole.places)
    if old is None or old.places[-1] < new.places[0]:
        # Most come behind all others: what is full stays as it is.
        return _cut(whole, list(range(_MOST, size, _MOST)))
    parts = -(-size // _MOST)
    return _cut(whole, [size * part // parts for part in range(1, parts)])


def _merged(old: Chunk, new: Chunk) -> Chunk:
    kept = ~np.isin(old.places, new.places)
    places = np.concatenate([old.places[kept], new.places])
    bits = np.concatenate([old.bits[:, kept], new.bits], axis=1)
    order = np.argsort(places)
    return Chunk(places[order], bits[:, order])


def _cut(chunk: Chunk, cuts: list[int]) -> list[Chunk]:
    starts, ends = [0, *cuts], [*cuts, len(chunk.places)]
    return [
        Chunk(chunk.places[start:end], chunk.bits[:, start:end])
        for start, end in zip(starts, ends, strict=True)
    ]


def _write(connection: Connection, first: int, chunks: list[Chunk]) -> None:
    """Write what stands from ``first`` until the next chunk."""
    connection.execute("DELETE FROM search_signs WHERE first = ?", (first,))
    connection.executemany(
        # By the stamp a reader knows whether it has read this before.
        "INSERT INTO search_signs (first, stamp, places, bits) VALUES (?, random(), ?, ?)",
        [
            (
                int(one.places[0]) if number else min(first, int(one.places[0])),
                one.places.astype(_PLACE).tobytes(),
                one.bits.astype(_WORD).tobytes(),
            )
            for number, one in enumerate(chunks)
            if len(one.places)
        ],
    )


def _of_vectors(connection: Connection) -> Iterator[Chunk]:
    cursor = connection.cursor()
    cursor.row_factory = None
    cursor.execute("SELECT place, value FROM search_vectors ORDER BY place")
    while rows := cursor.fetchmany(_MOST):
        # A damaged vector is no reason not to read the others.
        for size, alike in groupby(rows, lambda row: len(row[1])):
            if size and size % np.dtype(STORED).itemsize == 0:
                yield chunk_from(list(alike))


def chunk_from(rows: list[tuple[int, bytes]]) -> Chunk:
    """The signs of vectors as they are kept, each with its place, in order."""
    places = np.array([place for place, _ in rows], dtype=np.int64)
    vectors = np.frombuffer(b"".join(value for _, value in rows), dtype=STORED)
    return Chunk(places, bits_of(vectors.reshape(len(rows), -1)))
