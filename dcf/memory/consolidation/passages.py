"""Merging passages of an archive that say the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dcf.memory.checking import json_of
from dcf.memory.consolidation.facts import facts, said
from dcf.memory.consolidation.keeping import KEPT
from dcf.memory.consolidation.likeness import Likeness
from dcf.memory.consolidation.lines import Line, lines_of
from dcf.memory.consolidation.sayings import Sayings

_LONGEST = 4_000
"""Characters of a merged passage: search compares the meaning of no more."""


@dataclass(frozen=True, slots=True)
class PassageMerge:
    """``kept`` says what ``gone`` say once it has ``columns``; all are rows as they were."""

    kept: Mapping[str, Any]
    columns: Mapping[str, Any]
    gone: tuple[Mapping[str, Any], ...]

    @property
    def before(self) -> int:
        """Bytes of the texts."""
        return sum(len(row["text"].encode()) for row in (self.kept, *self.gone))

    @property
    def after(self) -> int:
        return len(self.columns["text"].encode())


class _Growing:
    """A passage that others are merged into."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.text: str = row["text"]
        self.tags: set[str] = set(json.loads(row["tags"]))
        self.salience: float = row["salience"]
        self.gone: list[Mapping[str, Any]] = []
        self.lines = _filled_lines(self.text)

    def take_in(self, other: _Growing, likeness: Likeness) -> bool:
        """Say what ``other`` says too, if that is nearly so already and there is room."""
        if not likeness.stand_in(other.lines, self.lines):
            return False
        known = {line.same for line in self.lines}
        more = [line for line in other.lines if line.same not in known]
        text = "\n".join([self.text, *(line.text for line in more)])
        if more and (len(text) > _LONGEST or any(line.under for line in more)):
            return False
        self.text, self.lines = text, _filled_lines(text)
        self.tags |= other.tags
        self.salience = max(self.salience, other.salience)
        self.gone += [other.row, *other.gone]
        return True

    @property
    def rank(self) -> tuple[int, int]:
        """Those that say more come first."""
        return -sum(len(facts(line.text)) for line in self.lines), -len(self.text)


def passage_merges(rows: Sequence[Mapping[str, Any]], likeness: Likeness) -> list[PassageMerge]:
    """How to merge passages (rows, the oldest first). Not a word is lost: a line that is not there
    to the letter is added. What blocks once said is left alone. When it is done, nothing is left
    to merge."""
    passages = [_Growing(row) for row in rows if KEPT not in json.loads(row["tags"])]
    while len(left := _round(passages, likeness)) < len(passages):
        passages = left
    return [
        PassageMerge(
            one.row,
            {
                "text": one.text,
                "tags": json_of(sorted(one.tags)),
                "salience": one.salience,
            },
            tuple(one.gone),
        )
        for one in passages
        if one.gone
    ]


def _round(passages: Sequence[_Growing], likeness: Likeness) -> list[_Growing]:
    kept: list[_Growing] = []
    sayings = Sayings(_words(one.lines) for one in passages)
    for one in sorted(passages, key=lambda passage: passage.rank):
        for at in sayings.having(_words(one.lines), likeness.missing(one.lines)):
            if kept[at].take_in(one, likeness):
                sayings.add(at, _words(kept[at].lines))
                break
        else:
            sayings.add(len(kept), _words(one.lines))
            kept.append(one)
    order = {id(one): at for at, one in enumerate(passages)}
    return sorted(kept, key=lambda one: order[id(one)])


def _words(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset(word for line in lines for word in said(line.text))


def _filled_lines(text: str) -> list[Line]:
    return [line for line in lines_of(text) if line.text.strip()]
