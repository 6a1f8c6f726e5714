"""Which stored procedure does what somebody wants; none, rather than one that is only near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf.planner.matching.stored import Stored
from dcf.search import (
    Document,
    Embedder,
    Hit,
    IndexDamaged,
    SearchIndex,
    Shape,
    opening,
    spoken,
    telling_words,
    words,
)

MATCH_THRESHOLDS: Mapping[str, float] = {"wordllama": 0.38, "minilm": 0.46, "none": 0.32}
"""The least score of a match, by embedder."""
SHAPE = Shape(
    fields={"name": 3.0, "objective": 1.5, "steps": 1.0, "values": 0.5},
    views=(1.0, 0.6, 0.6),
    name="name",
)
SIMILARITY = 0.2
"""The least similarity of a match, where meanings are compared: words alone may stand anywhere."""
FEWEST_WORDS = 2
"""Telling words of an objective: one alone says what it is about, not what is wanted."""
MARGIN = 0.08
"""Of two that are nearer to each other than this, neither is taken without asking."""
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Match:
    """``score`` is that of the hybrid index, about between 0 and 1; ``fits`` says whether it may be
    taken. ``matched`` are the words of the objective by part."""

    stored: Stored
    score: float
    fits: bool
    matched: Mapping[str, Sequence[str]]

    def to_json(self) -> dict[str, Any]:
        """``{id, kind, title, score, matched}``."""
        return {
            "id": self.stored.id,
            "kind": self.stored.kind,
            "title": self.stored.title,
            "score": round(self.score, 3),
            "matched": {part: list(found) for part, found in self.matched.items()},
        }


@dataclass(frozen=True, slots=True)
class Matched:
    """``nearest`` come best first; those that fit and are nearer than ``MARGIN`` to the first of
    them are ``rivals``, if there are several. ``best`` is the one to take, if there is one. Of an
    objective that does not say enough (``FEWEST_WORDS``) nothing is taken."""

    nearest: tuple[Match, ...]
    threshold: float
    says_enough: bool = True

    @property
    def rivals(self) -> tuple[Match, ...]:
        fitting = [one for one in self.nearest if one.fits]
        near = tuple(one for one in fitting if fitting[0].score - one.score < MARGIN)
        return near if len(near) > 1 else ()

    @property
    def best(self) -> Match | None:
        if not self.nearest or not self.nearest[0].fits or self.rivals:
            return None
        return self.nearest[0]


class Matcher:
    """Searches what is stored, with an index in the file ``path``."""

    def __init__(self, path: Path, embedder: Embedder, threshold: float | None = None) -> None:
        self._index = SearchIndex(path, SHAPE, embedder)
        self.threshold = MATCH_THRESHOLDS[embedder.name] if threshold is None else threshold

    def match(self, objective: str, stored: Sequence[Stored]) -> Matched:
        """What of ``stored`` fits ``objective``. Raises IndexUnusable."""
        by_id = {one.id: one for one in stored}
        if not by_id or not words(objective):
            return Matched((), self.threshold)
        documents = [_document(one) for one in stored]
        self._index.update(documents)
        try:
            hits = self._index.search(objective, _NEAREST)
        except IndexDamaged:
            self._index.update(documents)
            hits = self._index.search(objective, _NEAREST)
        says_enough = len(telling_words(spoken(objective))) >= FEWEST_WORDS
        nearest = tuple(
            Match(by_id[hit.id], hit.score, says_enough and self._fits(hit), hit.matched)
            for hit in hits
            if hit.id in by_id
        )
        return Matched(nearest, self.threshold, says_enough)

    def _fits(self, hit: Hit) -> bool:
        compares = self._index.embedder.name != "none"
        return hit.score >= self.threshold and (hit.similarity >= SIMILARITY or not compares)


def _document(one: Stored) -> Document:
    steps = ". ".join(spoken(step) for step in one.steps)
    values = " ".join(spoken(value) for value in one.values)
    gist = f"{one.title}: {opening(one.objective) or one.objective}"
    fields = {"name": one.title, "objective": one.objective, "steps": steps, "values": values}
    return Document(one.id, fields, (f"{one.title}. {one.objective} {steps}", gist, one.title))
