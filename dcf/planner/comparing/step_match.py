"""Which step of one procedure is which of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_ALIKE = 0.6
"""Titles, or titles with texts, that are this similar belong to one step (0 to 1, the ratio of
``difflib.SequenceMatcher``: twice the characters in common by all characters)."""


@dataclass(frozen=True, slots=True)
class Told:
    """A step as far as it is compared; ``states`` are those of the workflow that it became."""

    number: str
    title: str
    text: str = ""
    states: tuple[str, ...] = ()


def matched(old: Sequence[Told], new: Sequence[Told]) -> Mapping[int, int]:
    """The place in ``old`` of the same step, by its place in ``new``; each at most once.

    First those of equal number and title, then of equal title and text, of equal title, and of what
    is left over the most similar ones.
    """
    found: dict[int, int] = {}
    left = set(range(len(old)))
    for key in (_number_and_title, _title_and_text, _title):
        there: dict[object, list[int]] = {}
        for at in sorted(left):
            there.setdefault(key(old[at]), []).append(at)
        for place, step in enumerate(new):
            same = there.get(key(step))
            if place not in found and same:
                found[place] = same.pop(0)
                left.discard(found[place])
    rest = [place for place in range(len(new)) if place not in found]
    alike = sorted(_alike(old, sorted(left), new, rest))
    for _, place, at in alike:
        if place not in found and at in left:
            found[place] = at
            left.discard(at)
    return found


def _alike(
    old: Sequence[Told], left: Sequence[int], new: Sequence[Told], rest: Sequence[int]
) -> Iterator[tuple[float, int, int]]:
    """Each step left of ``new`` with those left of ``old`` that it is like, the most similar ones
    first when sorted: by titles and by texts together."""
    for place in rest:
        for at in left:
            shares = (
                _ratio(_title(old[at]), _title(new[place])),
                _ratio(" ".join(_title_and_text(old[at])), " ".join(_title_and_text(new[place]))),
            )
            if max(shares) >= _ALIKE:
                yield -sum(shares), place, at


def _ratio(one: str, other: str) -> float:
    compared = SequenceMatcher(None, one, other, autojunk=False)
    # The two quick ones are upper bounds of the ratio.
    is_hopeless = compared.real_quick_ratio() < _ALIKE or compared.quick_ratio() < _ALIKE
    return 0.0 if is_hopeless else compared.ratio()


def _number_and_title(step: Told) -> tuple[str, str]:
    return step.number, _title(step)


def _title_and_text(step: Told) -> tuple[str, str]:
    return _title(step), " ".join(step.text.split()).casefold()


def _title(step: Told) -> str:
    return " ".join(step.title.split()).casefold().rstrip(".")
