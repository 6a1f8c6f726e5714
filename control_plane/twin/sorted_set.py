"""The sorted set: members ordered by score, then by their bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass

from control_plane.errors import ServerError
from control_plane.twin.numbers import parse_float

Scored = tuple[float, str]

_NOT_A_BOUND = "ERR min or max is not a float"


class SortedSet:
    """A sorted set value. Members compare by code point, which orders UTF-8 as bytes do."""

    kind = "zset"
    __slots__ = ("_order", "scores")

    def __init__(self) -> None:
        self.scores: dict[str, float] = {}
        self._order: list[Scored] = []

    def __len__(self) -> int:
        return len(self._order)

    def set(self, member: str, score: float) -> None:
        """Add ``member`` or move it to ``score``."""
        before = self.scores.get(member)
        if before is not None:
            if before == score:
                return
            del self._order[bisect_left(self._order, (before, member))]
        self.scores[member] = score
        insort(self._order, (score, member))

    def remove(self, member: str) -> bool:
        """Remove ``member``; whether it was there."""
        score = self.scores.pop(member, None)
        if score is None:
            return False
        del self._order[bisect_left(self._order, (score, member))]
        return True

    def by_rank(self, start: int, stop: int) -> list[Scored]:
        """Entries ``start`` to ``stop``, both included; negative counts from the end."""
        size = len(self._order)
        first = max(0, start + size if start < 0 else start)
        last = stop + size if stop < 0 else stop
        return self._order[first : last + 1] if last >= 0 else []

    def between(self, low: Bound, high: Bound) -> list[Scored]:
        """Entries whose score lies between the bounds, in ascending order."""
        return self._order[self._below(low) : self._above(high)]

    def _below(self, low: Bound) -> int:
        find = bisect_right if low.exclusive else bisect_left
        return find(self._order, low.score, key=_score)

    def _above(self, high: Bound) -> int:
        find = bisect_left if high.exclusive else bisect_right
        return find(self._order, high.score, key=_score)

    def copy(self) -> SortedSet:
        """A copy."""
        other = SortedSet()
        other.scores, other._order = dict(self.scores), list(self._order)
        return other

    def plain(self) -> list[tuple[str, float]]:
        """``(member, score)`` in order."""
        return [(member, score) for score, member in self._order]


def _score(entry: Scored) -> float:
    return entry[0]


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range of scores."""

    score: float
    exclusive: bool

    @classmethod
    def parse(cls, text: str) -> Bound:
        """``5``, ``(5``, ``-inf``. Raises ServerError."""
        exclusive = text.startswith("(")
        return cls(parse_float(text[exclusive:], _NOT_A_BOUND), exclusive)


def checked_score(score: float) -> float:
    """``score`` unless it is NaN, which has no place in an order. Raises ServerError."""
    if score != score:
        raise ServerError("ERR resulting score is not a number (NaN)")
    return score + 0.0 if score else 0.0  # -0 prints as 0
