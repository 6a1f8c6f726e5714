"""The context of a task within a budget of tokens, with a share for each kind of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dcf.retrieval.candidate import KINDS, Kind, Scored
from dcf.retrieval.cut import LEAST_CUT, cut, with_costs

_LEAST_PART = 1 / 3
"""Of the highest relevance in a list: what has less is not told, nor what has none. Of 400
questions of two public sets about tools (MetaTool, Berkeley Function Calling Leaderboard), 1.4 %
and none of the right answers among the first ten have less; of all wrong pairs 92 % and 93 %."""


@dataclass(frozen=True, slots=True)
class Share:
    """Percent of a budget: up to the ``floor`` a kind that answers comes before all but the best
    text of each other one; beyond the ``ceiling`` it gets only what the others leave."""

    floor: int
    ceiling: int


_ANY = Share(0, 100)

SHARES: Mapping[Kind, Share] = {
    "memory": Share(20, 50),
    "observation": Share(10, 30),
    "thread": Share(5, 25),
    "playbook": Share(10, 30),
    "code": Share(30, 60),
    "document": Share(20, 50),
    "fact": Share(5, 15),
}


@dataclass(frozen=True, slots=True)
class Part:
    """What one kind got: ``floor``, ``ceiling`` and ``used`` are tokens, ``taken`` and ``left_out``
    numbers of texts."""

    floor: int
    ceiling: int
    used: int
    taken: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Bundle:
    """``found`` cost at most ``budget`` tokens together, the best first; ``left_out`` are the
    others. ``missed`` is the best answer of all, where the budget has no room for it, nor for a
    cut of it where texts are cut."""

    budget: int
    found: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    parts: Mapping[Kind, Part]
    missed: Scored | None = None

    @property
    def used(self) -> int:
        """Tokens of all that was found."""
        return sum(part.used for part in self.parts.values())


def bundled(
    ranked: Sequence[Scored],
    budget: int,
    limit: int,
    shares: Mapping[Kind, Share] = SHARES,
    *,
    query: str = "",
    in_order: bool = False,
) -> Bundle:
    """At most ``limit`` of ``ranked``, the best first, in ``budget`` tokens. ``in_order``: the
    first ones whole, whatever their kinds, that fit; else as follows.

    Only what answers is told: what has a relevance, and at least ``_LEAST_PART`` of the most of
    all. The best of all comes first, then the best of each other kind; for each that is to come,
    what its floor has room for is kept free, and one that is too long is cut around the words of
    ``query``. Then, in the order of the ranking and whole, what fits the floors, then what fits the
    ceilings; what is left is for those that were cut, for whatever fits, and for a cut of the next.
    """
    priced = with_costs(ranked)
    most = max((one.relevance or 0.0 for one in priced), default=0.0)
    least = round(most * _LEAST_PART, 3)  # as relevances are rounded
    answering = {
        number: one
        for number, one in enumerate(priced)
        if one.relevance is None or 0 < one.relevance >= least
    }
    shares = dict.fromkeys(KINDS, _ANY) if in_order else shares
    filling = _Filling(answering, budget, limit, shares, query)
    if in_order:
        filling.fill(filling.ceilings)
    else:
        filling.spend()
    taken = filling.taken
    best = next(iter(answering), None)
    kinds = Counter(one.candidate.kind for one in taken.values())
    over = f"over the budget: {filling.room:,} tokens were left"
    behind = f"behind the first {limit}" if len(taken) >= limit else over

    def reason(number: int, one: Scored) -> str:
        if number not in answering:
            return f"hardly answers: relevance {one.relevance:.2f}, the best has {most:.2f}"
        return over if number == best else behind

    left = {
        number: replace(one, left_out=reason(number, one))
        for number, one in enumerate(priced)
        if number not in taken
    }
    others = Counter(one.candidate.kind for one in left.values())
    return Bundle(
        budget,
        tuple(taken[number] for number in sorted(taken)),
        tuple(left.values()),
        {
            kind: Part(
                *(filling.floors[kind], filling.ceilings[kind], filling.used[kind]),
                *(kinds[kind], others[kind]),
            )
            for kind in KINDS
        },
        None if best is None or best in taken else left[best],
    )


class _Filling:
    """A budget while it is filled with what is ``answering``, by its number in the ranking.
    ``taken`` are those that are told, whole or cut; ``used`` are tokens."""

    def __init__(
        self,
        answering: Mapping[int, Scored],
        budget: int,
        limit: int,
        shares: Mapping[Kind, Share],
        query: str,
    ) -> None:
        self.floors = {kind: budget * shares[kind].floor // 100 for kind in KINDS}
        self.ceilings = {kind: budget * shares[kind].ceiling // 100 for kind in KINDS}
        self.taken: dict[int, Scored] = {}
        self.used: Counter[Kind] = Counter()
        self._answering = answering
        self._budget = budget
        self._limit = limit
        self._query = query

    @property
    def room(self) -> int:
        """Tokens that are left."""
        return self._budget - self.used.total()

    def spend(self) -> None:
        """Each kind has its share, and what is too long is cut."""
        self.take_firsts()
        self.fill(self.floors)
        self.fill(self.ceilings)
        self.lengthen()
        self.fill(dict.fromkeys(KINDS, self._budget))
        self.cut_next()

    def take_firsts(self) -> None:
        """The best of all, whole if the others leave room for it, and of each other kind the best,
        up to the kind's ceiling."""
        best: dict[Kind, int] = {}
        for number, one in self._answering.items():
            best.setdefault(one.candidate.kind, number)
        firsts = [*best.values()][: self._limit]
        for place, number in enumerate(firsts):
            room = self.room - sum(map(self._kept_for, firsts[place + 1 :]))
            one = self._answering[number]
            ceiling = self.ceilings[one.candidate.kind]
            if place == 0:
                # Nothing is kept for others if it leaves no room for the best.
                room = max(room, min(self._budget, LEAST_CUT))
                ceiling = max(ceiling, LEAST_CUT)
            if one.tokens > room or (place > 0 and one.tokens > ceiling):
                self._take_cut(number, min(room, ceiling))
            else:
                self._take(number, one)

    def fill(self, most: Mapping[Kind, int]) -> None:
        """Take whole whatever leaves its kind at ``most``."""
        for number, one in self._answering.items():
            kind = one.candidate.kind
            fits = one.tokens <= min(self.room, most[kind] - self.used[kind])
            if fits and number not in self.taken and self._has_place:
                self._take(number, one)

    def lengthen(self) -> None:
        """Give what is left to those that were cut."""
        for number in sorted(self.taken):
            before, whole = self.taken[number], self._answering[number]
            free = self.room + before.tokens
            if before is whole or self.room == 0:
                continue
            self._give_back(number)
            if whole.tokens <= free:
                self._take(number, whole)
            else:
                self._take(number, cut(self._query, whole, free) or before)

    def cut_next(self) -> None:
        """Cut the best of what is left out to what is left."""
        for number in self._answering:
            if number not in self.taken and self._has_place and self.room >= LEAST_CUT:
                self._take_cut(number, self.room)

    @property
    def _has_place(self) -> bool:
        return len(self.taken) < self._limit

    def _kept_for(self, number: int) -> int:
        one = self._answering[number]
        floor = self.floors[one.candidate.kind]
        return min(one.tokens, floor) if min(one.tokens, LEAST_CUT) <= floor else 0

    def _take_cut(self, number: int, room: int) -> None:
        told = cut(self._query, self._answering[number], room)
        if told is not None:
            self._take(number, told)

    def _take(self, number: int, one: Scored) -> None:
        self.taken[number] = one
        self.used[one.candidate.kind] += one.tokens

    def _give_back(self, number: int) -> None:
        one = self.taken.pop(number)
        self.used[one.candidate.kind] -= one.tokens
