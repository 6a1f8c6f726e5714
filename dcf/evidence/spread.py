"""How values are spread: quantiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor


@dataclass(frozen=True, slots=True)
class Spread:
    """``n`` values: their sum, the smallest and the largest, and the 50th, 90th and 99th
    percentile."""

    n: int
    total: float
    least: float
    p50: float
    p90: float
    p99: float
    most: float

    @property
    def mean(self) -> float:
        return self.total / self.n


def spread_of(values: Iterable[float]) -> Spread | None:
    """The spread of ``values``; None if there are none."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Spread(
        n=len(ordered),
        total=sum(ordered),
        least=ordered[0],
        p50=quantile(ordered, 0.5),
        p90=quantile(ordered, 0.9),
        p99=quantile(ordered, 0.99),
        most=ordered[-1],
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which ``share`` of the ``ordered`` values are, between neighbours by
    proportion (definition 7 of Hyndman and Fan, The American Statistician 50, 1996)."""
    if not ordered or not 0 <= share <= 1:
        raise ValueError("a quantile is of some values, at a share from 0 to 1")
    at = share * (len(ordered) - 1)
    below = floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])
