"""The mode ``guide``: the formula that augmented retrieval was first described with.

Overlap of words counts 0.7 in memory and all in code, recency 0.25, a tag of note 0.1. It is kept
to be compared with: recency drowns relevance in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dcf.retrieval.candidate import Candidate, Scored

_NO_WORD = re.compile(r"[^\w]+", re.ASCII)
_OVERLAP, _RECENCY, _TAG = 0.7, 0.25, 0.10
_TAGS = frozenset({"error", "fix", "decision", "runlog"})
_DECAY = 0.1
"""Of recency, in seven days."""
_WEEK_MS = 7 * 24 * 60 * 60 * 1000


def by_guide(query: str, candidates: Sequence[Candidate], now: int) -> list[Scored]:
    """All candidates by that formula, at ``now`` (ms), the best first; those that are equal by
    their places in their own lists, code first."""
    asked = _tokens(query)
    code_first = sorted(candidates, key=lambda one: one.code is None)
    scored = [_scored(one, asked, now) for one in code_first]
    return sorted(scored, key=lambda one: (-one.score, one.candidate.place))


def _scored(one: Candidate, asked: frozenset[str], now: int) -> Scored:
    overlap = _jaccard(asked, _tokens(one.text))
    if one.memory is None:
        return Scored(one, overlap, (f"overlap {overlap:.2f}",))
    recency = math.exp(-_DECAY * (now - one.timestamp) / _WEEK_MS)
    tag = 0.0 if _TAGS.isdisjoint(one.memory.item.tags) else _TAG
    parts = (f"overlap {overlap:.2f}", f"recency {recency:.2f}", f"tag {tag:.2f}")
    return Scored(one, overlap * _OVERLAP + recency * _RECENCY + tag, parts)


def _tokens(text: str) -> frozenset[str]:
    return frozenset(filter(None, _NO_WORD.sub(" ", text.lower()).split(" ")))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    either = one | other
    return len(one & other) / len(either) if either else 0.0
