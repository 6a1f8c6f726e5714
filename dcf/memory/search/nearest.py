"""How far the vectors of a scope are from another one, by their signs."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
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

Counts: TypeAlias = "NDArray[np.uint16]"

_MOST_BYTES = 256_000_000
_TOGETHER = 16
"""Chunks that are held as one: each costs some 20 µs beside its texts, which take as long."""
# The index has both: the chunks themselves are not touched.
_STAMPS = (
    "SELECT first, stamp FROM search_signs INDEXED BY search_signs_by_stamp WHERE first BETWEEN"
    " coalesce((SELECT max(first) FROM search_signs WHERE first <= ?1), 0) AND ?2 ORDER BY first"
)
_Stamps: TypeAlias = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Distances:
    """Places, in order, and in how many signs the vector at each differs from another one."""

    parts: Sequence[tuple[Places, Counts]]

    def __len__(self) -> int:
        return sum(len(far) for _, far in self.parts)

    def nearest(self, many: int) -> Places:
        """The ``many`` nearest places, in the order of their distances, then their own."""
        # Of all others nothing but their number is looked at: they are hundreds of thousands.
        most = max((int(far.max()) for _, far in self.parts if len(far)), default=0)
        counted = sum(np.bincount(far, minlength=most + 1) for _, far in self.parts)
        until = np.searchsorted(np.cumsum(counted), many)
        places, near = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.uint16)]
        for own, far in self.parts:
            inside = np.flatnonzero(far <= until)
            places.append(own[inside])
            near.append(far[inside])
        order = np.argsort(np.concatenate(near), kind="stable")[:many]
        return np.concatenate(places)[order]


@dataclass(frozen=True, slots=True)
class _Together:
    """Chunks that follow each other, as one."""

    stamps: _Stamps
    whole: Chunk


@dataclass(frozen=True, slots=True)
class _Held:
    stamp: int
    chunk: Chunk
    together: _Together | None = None


class Nearest:
    """Reads chunks of signs and holds what it read, up to 256 MB: some 3,500,000 texts with the
    default embedder, each of which takes 72 bytes. What somebody has written anew since is read
    again; what does not fit is read each time."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._held: dict[int, _Held] = {}
        self._lock = threading.Lock()

    def distances(self, connection: Connection, asked: Vectors, scope: Scope) -> Distances:
        """All places of ``scope`` with a vector, and how far these are from the vector
        ``asked``."""
        bits = bits_of(asked[None, :])
        parts: list[tuple[Places, Counts]] = []
        spans = _Spans(scope)
        for chunk in self._chunks(connection, scope):
            wanted = spans.wanted(chunk.places)
            if wanted is None:
                parts.append((chunk.places, _distances(chunk.bits, bits)))
            elif wanted.any():
                parts.append((chunk.places[wanted], _distances(chunk.bits[:, wanted], bits)))
        return Distances(parts)

    def _chunks(self, connection: Connection, scope: Scope) -> Iterator[Chunk]:
        cursor = connection.cursor()
        cursor.row_factory = None
        self._forget_what_is_gone(cursor)
        # Two stretches may have parts of one chunk.
        known: set[int] = set()
        for span in scope.spans:
            stamps = [one for one in cursor.execute(_STAMPS, span) if one[0] not in known]
            known.update(first for first, _ in stamps)
            yield from self._of_stretch(cursor, stamps)

    def _of_stretch(self, cursor: Cursor, stamps: _Stamps) -> Iterator[Chunk]:
        """The chunks that have these stamps and follow each other, some of them as one."""
        at = 0
        while at < len(stamps):
            together = self._together(stamps, at)
            if together is None:
                yield self._chunk(cursor, *stamps[at])
                at += 1
            else:
                yield together.whole
                at += len(together.stamps)

    def _together(self, stamps: _Stamps, at: int) -> _Together | None:
        """The chunks that follow from ``at`` on as one, where they are held so, or may be from now
        on: none is read for it."""
        with self._lock:
            first = self._held.get(stamps[at][0])
            known = None if first is None else first.together
            if known is not None:
                return known if stamps[at : at + len(known.stamps)] == known.stamps else None
            alone = list(takewhile(self._is_alone, stamps[at : at + _TOGETHER]))
            # The last one of all grows with the next texts, and those before it wait for more.
            behind = stamps[at + len(alone) : at + len(alone) + 1]
            is_full = len(alone) == _TOGETHER
            if behind and (is_full or (len(alone) > 1 and self._is_joined(*behind))):
                return self._joined(alone)
            return None

    def _is_alone(self, stamped: tuple[int, int]) -> bool:
        """Whether a chunk is held as it is now, by itself."""
        first, stamp = stamped
        one = self._held.get(first)
        return one is not None and one.stamp == stamp and one.together is None

    def _is_joined(self, stamped: tuple[int, int]) -> bool:
        one = self._held.get(stamped[0])
        return one is not None and one.together is not None

    def _joined(self, stamps: _Stamps) -> _Together:
        """Chunks that are held alone as one from now on."""
        chunks = [self._held[first].chunk for first, _ in stamps]
        whole = Chunk(
            np.concatenate([one.places for one in chunks]),
            np.concatenate([one.bits for one in chunks], axis=1),
        )
        together = _Together(stamps, whole)
        end = 0
        for (first, stamp), chunk in zip(stamps, chunks, strict=True):
            own = slice(end, end := end + len(chunk.places))
            self._held[first] = _Held(stamp, Chunk(whole.places[own], whole.bits[:, own]), together)
        return together

    def _chunk(self, cursor: Cursor, first: int, stamp: int) -> Chunk:
        known = self._held.get(first)
        if known is not None and known.stamp == stamp:
            return known.chunk
        row = cursor.execute(
            "SELECT places, bits FROM search_signs WHERE first = ?", (first,)
        ).fetchone()
        chunk = chunk_of(row)
        self._hold(first, _Held(stamp, chunk))
        return chunk

    def _hold(self, first: int, one: _Held) -> None:
        with self._lock:
            self._let_go(first)
            size = _bytes(one.chunk)
            if self._bytes + size <= self._most_bytes:
                self._held[first] = one
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
        if known is None:
            return
        self._bytes -= _bytes(known.chunk)
        for other, _ in () if known.together is None else known.together.stamps:
            one = self._held.get(other)
            if one is not None and one.together is known.together:
                self._held[other] = replace(one, together=None)


class _Spans:
    """The stretches of a scope, and its kinds."""

    def __init__(self, scope: Scope) -> None:
        self._first = [one.first for one in scope.stretches]
        self._last = [one.last for one in scope.stretches]
        self._codes = [CODES[kind] for kind in scope.words]
        self._only = scope.only

    def wanted(self, places: Places) -> NDArray[np.bool_] | None:
        """Which of ``places`` are wanted; None: all."""
        at = bisect_left(self._last, places[0])
        inside = at < len(self._last) and self._first[at] <= places[0]
        if inside and places[-1] <= self._last[at] and self._has_all_kinds(places):
            return None if self._only is None else _among(places, self._only)
        rows = np.minimum(np.searchsorted(self._last, places), len(self._last) - 1)
        wanted = (np.array(self._first)[rows] <= places) & (places <= np.array(self._last)[rows])
        of_kind: NDArray[np.bool_] = np.isin(codes_at(places), self._codes)
        wanted &= of_kind
        return wanted if self._only is None else wanted & _among(places, self._only)

    def _has_all_kinds(self, places: Places) -> bool:
        if len(self._codes) == len(CODES):
            return True
        # The usual case: a chunk of one kind of one agent. Nothing need be compared one by one.
        first, last = int(places[0]), int(places[-1])
        return range_at(first) == range_at(last) and codes_at(places[:1])[0] in self._codes


def _among(places: Places, others: Places) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.isin(places, others, assume_unique=True)
    return found


def _distances(bits: Bits, asked: Bits) -> Counts:
    found: Counts = np.bitwise_count(bits ^ asked).sum(axis=0, dtype=np.uint16)
    return found


def _bytes(chunk: Chunk) -> int:
    return int(chunk.places.nbytes + chunk.bits.nbytes)
