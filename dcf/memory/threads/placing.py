"""Which of the turns that are kept is which of those that a source has now.

A turn is known by its mark. Where several have the same one, as "yes" that was said three times
without an id, their neighbours tell them apart: first the pairs that have the same one before and
after them, then the same one before, then after; what is left is paired in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dcf.memory.thread import TurnStanding
from dcf.memory.threads.piece import Mark


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A turn that is kept, without its content."""

    number: int
    mark: Mark
    place: int | None
    standing: TurnStanding


_Around: TypeAlias = tuple[Mark | None, Mark | None]
_LEVELS: tuple[Callable[[_Around], Hashable], ...] = (
    lambda around: around,
    lambda around: around[0],
    lambda around: around[1],
)


def placed(
    kept: Sequence[KeptTurn], seen: Sequence[Mark], rewound: Sequence[bool]
) -> tuple[KeptTurn, ...]:
    """``kept`` as it is now that the source has ``seen``, in its order. There are as many kept
    turns of each mark as are seen, or more."""
    places = {number: at for at, number in enumerate(_numbers(kept, seen), start=1)}
    keys = {mark.key for mark in seen if mark.key}
    found = []
    for turn in kept:
        at = places.get(turn.number)
        standing: TurnStanding
        if at is not None:
            standing = "rewound" if rewound[at - 1] else "current"
        else:
            standing = "edited" if turn.mark.key in keys else "gone"
        found.append(KeptTurn(turn.number, turn.mark, at, standing))
    return tuple(found)


def _numbers(kept: Sequence[KeptTurn], seen: Sequence[Mark]) -> list[int]:
    """The number of the turn that each of ``seen`` is."""
    by_mark: dict[Mark, list[KeptTurn]] = defaultdict(list)
    # Those that stood there before come first, in their order.
    for turn in sorted(kept, key=lambda one: (one.place is None, one.place or one.number)):
        by_mark[turn.mark].append(turn)
    wanted: dict[Mark, list[int]] = defaultdict(list)
    for at, mark in enumerate(seen):
        wanted[mark].append(at)
    before = [turn for turn in sorted(kept, key=lambda one: one.place or 0) if turn.place]
    around_kept = _around([(turn.number, turn.mark) for turn in before])
    around_seen = _around(enumerate(seen))
    numbers = [0] * len(seen)
    for mark, places in wanted.items():
        turns = by_mark[mark]
        if len(places) == len(turns) == 1:
            numbers[places[0]] = turns[0].number
            continue
        pairs = _paired([turn.number for turn in turns], around_kept, places, around_seen)
        for place, number in pairs.items():
            numbers[place] = number
    return numbers


def _around(marks: Iterable[tuple[int, Mark]]) -> dict[int, _Around]:
    """What stands before and after each."""
    known = [(one, mark) for one, mark in marks]
    texts = [None, *(mark for _, mark in known), None]
    return {one: (texts[at], texts[at + 2]) for at, (one, _) in enumerate(known)}


def _paired(
    turns: list[int],
    around_turns: Mapping[int, _Around],
    places: list[int],
    around_places: Mapping[int, _Around],
) -> dict[int, int]:
    """One of ``turns`` for each of ``places``; all have the same mark."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for level in _LEVELS:
        free: dict[Hashable, list[int]] = defaultdict(list)
        for turn in reversed(turns):
            if turn not in taken and turn in around_turns:
                free[level(around_turns[turn])].append(turn)
        for place in places:
            alike = free.get(level(around_places[place]))
            if place not in pairs and alike:
                pairs[place] = alike.pop()
                taken.add(pairs[place])
    rest = iter([turn for turn in turns if turn not in taken])
    for place in places:
        if place not in pairs:
            pairs[place] = next(rest)
    return pairs
