"""Whether an error is one that was seen before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import repeat

from dcf.memory.playbook import Playbook, PlaybookMatch
from dcf.memory.playbooks.error_words import ErrorWords, error_words, pattern_words

THRESHOLD = 0.75
"""Of up to three words all have to be said, of four one may be missing."""
_WINDOW = 3
_SMALLEST = 30
"""Words of an error stand together: a long log says any words somewhere."""
_NAMED = 8
"""Words that a reason names."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """``score`` is the share of a pattern's words and codes that an error says close together; 0
    where one of the codes is not said at all."""

    score: float
    reason: str

    @property
    def is_match(self) -> bool:
        """Whether that is enough."""
        return self.score >= THRESHOLD


def likeness(pattern: ErrorWords, error: ErrorWords) -> Likeness:
    """How much an error is like a pattern."""
    wanted = dict.fromkeys(pattern.words)
    total = len(wanted) + len(pattern.codes)
    strange = sorted(pattern.codes - error.numbers)
    if strange or not total:
        return Likeness(0.0, f"it does not say {', '.join(strange)}")
    said = {word for word in wanted if word in error.places}
    if len(said) + len(pattern.codes) >= THRESHOLD * total:
        # Fewer do not do, however they stand.
        said = _together(said, error, max(_SMALLEST, _WINDOW * len(pattern.words)))
    found = [*(word for word in wanted if word in said), *sorted(pattern.codes)]
    missing = [word for word in wanted if word not in said]
    reason = f"says {len(found)} of {total} words of the pattern: {_listed(found)}"
    if missing:
        reason += f"; not {_listed(missing)}"
    return Likeness(len(found) / total, reason)


def matches(
    playbooks: Iterable[Playbook], error: str, now: int, stale_days: int
) -> list[PlaybookMatch]:
    """The playbooks that fit an error, the best first; of those that fit alike the one whose
    pattern has more words, then the one that helped more often."""
    asked = error_words(error)
    compared = ((one, likeness(pattern_words(one.pattern), asked)) for one in playbooks)
    found = [
        PlaybookMatch(one, round(like.score, 3), like.reason, one.stale(now, stale_days))
        for one, like in compared
        if like.is_match
    ]
    return sorted(found, key=_order)


def _order(one: PlaybookMatch) -> tuple[float, int, int, int, int, str]:
    known = one.playbook
    # A pattern of one word is said by many errors.
    told = len({*pattern_words(known.pattern).words})
    return -one.score, -told, -known.helped, known.failed, -known.confirmed_at, known.id


def _together(said: Collection[str], error: ErrorWords, window: int) -> set[str]:
    """The most words of ``said`` that stand in ``window`` words of an error in a row."""
    places = list[tuple[int, str]]()
    inside: Counter[str] = Counter()
    best: set[str] = set()
    first = 0
    for place, word in merge(*(zip(error.places[word], repeat(word)) for word in said)):
        places.append((place, word))
        inside[word] += 1
        while place - places[first][0] >= window:
            gone = places[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                del inside[gone]
            first += 1
        if len(inside) > len(best):
            best = set(inside)
        if len(best) == len(said):
            break
    return best


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _NAMED
    return ", ".join(words[:_NAMED]) + (f" and {more} more" if more > 0 else "")
