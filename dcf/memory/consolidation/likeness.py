"""Whether one line says all that another says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dcf.late_numpy import np
from dcf.memory.consolidation.facts import capitals, facts, negations, said
from dcf.memory.consolidation.lines import Line, bare, lines_of
from dcf.memory.consolidation.sayings import Sayings
from dcf.search import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AT_MOST = 2_000
"""Lines that are compared with one another; where there are more, only the same ones are found."""
_LONGEST = 60
"""Words of a line that is compared: a longer one is a paragraph, of which every word counts."""


@dataclass(frozen=True, slots=True)
class _Form:
    """What is compared of a line."""

    words: tuple[str, ...]
    facts: frozenset[str]
    negations: frozenset[str]
    capitals: frozenset[str]


@dataclass(slots=True)
class Likeness:
    """Compares lines: ``least`` and ``spare`` are those of the settings. With an ``embedder`` the
    likeness is the cosine of what two lines mean, without the share of their words that is in both.
    """

    least: float
    spare: float
    embedder: Embedder | None = None
    _lines: dict[str, list[Line]] = field(default_factory=dict)
    _forms: dict[str, _Form] = field(default_factory=dict)
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def lines(self, text: str) -> list[Line]:
        """The lines of a text, parted once."""
        found = self._lines.get(text)
        if found is None:
            found = self._lines[text] = lines_of(text)
        return found

    def duplicates(self, lines: Sequence[Line]) -> dict[int, int]:
        """Which lines can go, and for each the one that says what it says: positions in ``lines``.

        What stays is the line under which others stand, then the one with more facts, the longer
        one, the first. Of those that stay none that could go says what another says.
        """
        plain = [at for at, line in enumerate(lines) if line.plain]
        found: dict[int, int] = {}
        first: dict[tuple[tuple[str, ...], str], int] = {}
        for at in sorted(plain, key=lambda at: (lines[at].free, at)):
            other = first.setdefault(lines[at].same, at)
            if other != at and lines[at].free:
                found[at] = other
        rest = [at for at in plain if at not in found]
        if self.least >= 1 or len(rest) > _AT_MOST:
            return found
        near = self._near(lines, sorted(rest, key=lambda at: (*self._rank(lines[at]), at)))
        return {**{gone: near.get(kept, kept) for gone, kept in found.items()}, **near}

    def covers(self, kept: Line, gone: Line) -> bool:
        """Whether ``kept`` says what ``gone`` says, and stands under the same."""
        if kept.same == gone.same:
            return True
        if self.least >= 1 or not (kept.plain and gone.plain) or kept.under != gone.under:
            return False
        ours, theirs = self._form(kept.text), self._form(gone.text)
        if len(ours.words) > _LONGEST or not theirs.words or not theirs.facts <= ours.facts:
            return False
        if ours.negations != theirs.negations or not theirs.capitals <= set(ours.words):
            return False
        missing = len(theirs.words) - _in_order(ours.words, theirs.words)
        if missing > int(len(theirs.words) * self.spare):
            return False
        return self._alike(kept.text, gone.text) >= self.least

    def missing(self, lines: Sequence[Line]) -> int:
        """How many words of ``lines`` may be missing in lines that say the same, at most."""
        return int(self.spare * sum(len(self._form(line.text).words) for line in lines))

    def stand_in(self, lines: Sequence[Line], others: Sequence[Line]) -> bool:
        """Whether ``others`` say all that ``lines`` say."""
        known = {line.same for line in others}
        near = others if len(others) <= _AT_MOST else ()
        return all(
            line.same in known or any(self.covers(other, line) for other in near) for line in lines
        )

    def _near(self, lines: Sequence[Line], order: Sequence[int]) -> dict[int, int]:
        """By the words that they have in common, which those that say the same must have."""
        words = {at: frozenset(self._form(lines[at].text).words) for at in order}
        sayings = Sayings(words.values())
        found: dict[int, int] = {}
        for at in order:
            missing = self.missing([lines[at]])
            likely = sayings.having(words[at], missing)
            kept = next((one for one in likely if self.covers(lines[one], lines[at])), None)
            if kept is None or not lines[at].free:
                sayings.add(at, words[at])
            else:
                found[at] = kept
        return found

    def _rank(self, line: Line) -> tuple[bool, int, int]:
        return line.free, -len(self._form(line.text).facts), -len(bare(line.text))

    def _alike(self, one: str, other: str) -> float:
        if self.embedder is None:
            ours, theirs = set(self._form(one).words), set(self._form(other).words)
            return len(ours & theirs) / len(ours | theirs)
        missing = [text for text in (one, other) if text not in self._vectors]
        if missing:
            rows = self.embedder.embed([bare(text) for text in missing])
            self._vectors.update(zip(missing, rows, strict=True))
        return float(self._vectors[one] @ self._vectors[other])

    def _form(self, text: str) -> _Form:
        found = self._forms.get(text)
        if found is None:
            found = self._forms[text] = _Form(
                said(text), facts(text), negations(text), capitals(text)
            )
        return found


def _in_order(words: Sequence[str], wanted: Sequence[str]) -> int:
    """How many of the ``wanted`` words stand in ``words`` in the same order, at most."""
    best = [0] * (len(wanted) + 1)
    for word in words:
        above = 0
        for at, one in enumerate(wanted, 1):
            below = best[at]
            best[at] = above + 1 if word == one else max(best[at], best[at - 1])
            above = below
    return best[-1]
