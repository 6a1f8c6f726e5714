"""A secret found in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Found:
    """A secret of some ``kind``, like "github token": the characters from ``start`` up to, but not
    with, ``end``."""

    kind: str
    start: int
    end: int


def places(text: str, part: str) -> Iterator[int]:
    """Where ``part`` stands in ``text``."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def united(found: Iterable[Found]) -> list[Found]:
    """``found`` in the order of the text, those that overlap made one. It has the kind of the one
    that was given first: the most telling ones are to come first."""
    ranked = sorted(enumerate(found), key=lambda one: (one[1].start, one[0]))
    made: list[tuple[int, Found]] = []
    for rank, one in ranked:
        if made and one.start < made[-1][1].end:
            before_rank, before = made[-1]
            kind = before.kind if before_rank < rank else one.kind
            end = max(before.end, one.end)
            made[-1] = (min(before_rank, rank), replace(before, kind=kind, end=end))
        else:
            made.append((rank, one))
    return [one for _, one in made]
