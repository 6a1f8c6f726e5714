"""How far the vectors of a scope are from another one, by their signs."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from sqlite3 import Cursor
from typing import TYPE_CHECKING, TypeAlias

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.place import CODES, Places, codes_at, range_at
from dcf.memory.search.scope import Scope
from dcf.memory.search.signs import Bits, Chunk, bits_of, chunk_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dcf.search import Vectors

Distances: TypeAlias = "NDArray[np.uint16]"

_MOST_BYTES = 256_000_000
# The index has both: the chunks themselves are not touched.
_STAMPS = (
    "SELECT first, stamp FROM search_signs INDEXED BY search_signs_by_stamp WHERE first BETWEEN"
    " coalesce((SELECT max(first) FROM search_signs WHERE first <= ?1), 0) AND ?2 ORDER BY first"
)


class Nearest:
    """Reads chunks of signs and holds what it read, up to 256 MB: some 3,500,000 texts with the
    default embedder. What somebody has written anew since is read again; what does not fit is read
    each time."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._held: dict[int, tuple[int, Chunk]] = {}
        self._lock = threading.Lock()

    def distances(
        self, connection: Connection, asked: Vectors, scope: Scope
    ) -> tuple[Places, Distances]:
        """All places of ``scope`` with a vector, in order, and in how many signs each differs from
        the vector ``asked``."""
        bits = bits_of(asked[None, :])
        places, far = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint16)]
        spans = _Spans(scope)
        for chunk in self._chunks(connection, scope):
            wanted = spans.wanted(chunk.places)
            if wanted is None:
                places.append(chunk.places)
                far.append(_distances(chunk.bits, bits))
            elif wanted.any():
                places.append(chunk.places[wanted])
                far.append(_distances(chunk.bits[:, wanted], bits))
        return np.concatenate(places), np.concatenate(far)

    def _chunks(self, connection: Connection, scope: Scope) -> Iterator[Chunk]:
        cursor = connection.cursor()
        cursor.row_factory = None
        self._forget_what_is_gone(cursor)
        # Two stretches may have parts of one chunk.
        stamps: dict[int, int] = {}
        for first, last in scope.spans:
            stamps.update(cursor.execute(_STAMPS, (first, last)))
        for first, stamp in stamps.items():
            known = self._held.get(first)
            if known is not None and known[0] == stamp:
                yield known[1]
                continue
            row = cursor.execute(
                "SELECT places, bits FROM search_signs WHERE first = ?", (first,)
            ).fetchone()
            chunk = chunk_of(row)
            self._hold(first, stamp, chunk)
            yield chunk

    def _hold(self, first: int, stamp: int, chunk: Chunk) -> None:
        with self._lock:
            self._let_go(first)
            size = _bytes(chunk)
            if self._bytes + size <= self._most_bytes:
                self._held[first] = (stamp, chunk)
                self._bytes += size

    def _forget_what_is_gone(self, cursor: Cursor) -> None:
        if len(self._held) <= cursor.execute("SELECT count(*) FROM search_signs").fetchone()[0]:
            return
        there = {first for (first,) in cursor.execute("SELECT first FROM search_signs")}
        with self._lock:
            for first in self._held.keys() - there:
                self._let_go(first)

    def _let_go(self, first: int) -> None:
        known = self._held.pop(first, None)
        self._bytes -= 0 if known is None else _bytes(known[1])


class _Spans:
    """The stretches of a scope, and its kinds."""

    def __init__(self, scope: Scope) -> None:
        self._first = [one.first for one in scope.stretches]
        self._last = [one.last for one in scope.stretches]
        self._codes = [CODES[kind] for kind in scope.words]

    def wanted(self, places: Places) -> NDArray[np.bool_] | None:
        """Which of ``places`` are wanted; None: all."""
        at = bisect_left(self._last, places[0])
        inside = at < len(self._last) and self._first[at] <= places[0]
        if inside and places[-1] <= self._last[at] and self._has_all_kinds(places):
            return None
        rows = np.minimum(np.searchsorted(self._last, places), len(self._last) - 1)
        wanted = (np.array(self._first)[rows] <= places) & (places <= np.array(self._last)[rows])
        of_kind: NDArray[np.bool_] = np.isin(codes_at(places), self._codes)
        return wanted & of_kind

    def _has_all_kinds(self, places: Places) -> bool:
        if len(self._codes) == len(CODES):
            return True
        # The usual case: a chunk of one kind of one agent. Nothing need be compared one by one.
        first, last = int(places[0]), int(places[-1])
        return range_at(first) == range_at(last) and codes_at(places[:1])[0] in self._codes


def _distances(bits: Bits, asked: Bits) -> Distances:
    found: Distances = np.bitwise_count(bits ^ asked).sum(axis=0, dtype=np.uint16)
    return found


def _bytes(chunk: Chunk) -> int:
    return int(chunk.places.nbytes + chunk.bits.nbytes)
