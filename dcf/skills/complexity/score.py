"""From scores to one number: the weighted sum, and what makes combinations harder than their sum.

``WCS`` (weighted complexity score) is the sum of the seven scores; all weights are 1.0, so it lies
between 0 and 21. ``FCS`` (final complexity score) is WCS times the product of the multipliers,
which is rounded to three places first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import mul
from typing import Any

from dcf.skills.complexity.dimension import DIMENSIONS, HIGHEST

_PAIRS: dict[tuple[str, str], Decimal] = {
    ("horizon", "context"): Decimal("1.15"),
    ("horizon", "adaptability"): Decimal("1.10"),
    ("horizon", "tooling"): Decimal("1.08"),
    ("context", "precision"): Decimal("1.12"),
    ("context", "modality"): Decimal("1.10"),
    ("tooling", "observability"): Decimal("1.15"),
    ("tooling", "adaptability"): Decimal("1.08"),
    ("precision", "observability"): Decimal("1.12"),
    ("precision", "adaptability"): Decimal("1.10"),
}
"""Two dimensions that are hard together count for more than both alone."""

_PAIR_FROM = 2
_CROWD_FROM = 3
_CROWD_STEP = Decimal("0.05")
_PLACES = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class Multiplier:
    """One reason why the whole is harder than its parts."""

    dimensions: tuple[str, ...]
    factor: Decimal
    condition: str
    scores: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """``{pair, multiplier, condition, scores}``; ``scores`` in the order of ``pair``."""
        return {
            "pair": "+".join(self.dimensions),
            "multiplier": float(self.factor),
            "condition": self.condition,
            "scores": list(self.scores),
        }


@dataclass(frozen=True, slots=True)
class Score:
    """``wcs`` 0 to 21; ``multipliers`` are those that apply; both other numbers have three places
    at most."""

    wcs: int
    multipliers: tuple[Multiplier, ...]
    total_multiplier: float
    fcs: float


def score(scores: Mapping[str, int]) -> Score:
    """The numbers for seven scores.

    >>> score(dict.fromkeys(DIMENSIONS, 1)).fcs
    7.0
    """
    wcs = sum(scores[name] for name in DIMENSIONS)
    multipliers = (*_pairs(scores), *_crowd(scores))
    # Decimal, so that the last of three places is the arithmetic's and not the machine's.
    product = reduce(mul, (multiplier.factor for multiplier in multipliers), Decimal(1))
    total = product.quantize(_PLACES)
    return Score(wcs, multipliers, float(total), float(wcs * total))


def _pairs(scores: Mapping[str, int]) -> list[Multiplier]:
    return [
        Multiplier(pair, factor, f"both at least {_PAIR_FROM}", (scores[pair[0]], scores[pair[1]]))
        for pair, factor in _PAIRS.items()
        if min(scores[pair[0]], scores[pair[1]]) >= _PAIR_FROM
    ]


def _crowd(scores: Mapping[str, int]) -> list[Multiplier]:
    """Three or more dimensions at their highest: 5 % for each from the third on."""
    top = tuple(name for name in DIMENSIONS if scores[name] == HIGHEST)
    if len(top) < _CROWD_FROM:
        return []
    factor = 1 + _CROWD_STEP * (len(top) - 2)
    return [Multiplier(top, factor, f"{len(top)} dimensions at {HIGHEST}", (HIGHEST,) * len(top))]
