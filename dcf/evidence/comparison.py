"""Two counts held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dcf.evidence.beta import Beta
from dcf.evidence.counts import Counts
from dcf.evidence.interval import difference_interval
from dcf.evidence.significance import fisher_exact
from dcf.evidence.superiority import probability_greater

Verdict: TypeAlias = Literal["higher", "lower", "no_difference_found", "too_few"]

MIN_SAMPLES = 10
"""On each side: of fewer, complexity profiles say ``provisional`` too."""
SIGNIFICANT = 0.05
INFERIOR = 0.05
"""So much lower a success rate is too much to pay for anything else, as for being quick."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The first rate less the second: ``difference`` (None if a side has no outcomes), from ``low``
    to ``high`` with 95 % confidence. ``p_value`` is Fisher's; ``probability`` that the first is the
    higher one, as believed. ``verdict`` is about the first."""

    first: Counts
    second: Counts
    difference: float | None
    low: float
    high: float
    p_value: float
    probability: float
    verdict: Verdict

    @property
    def significant(self) -> bool:
        return self.verdict in ("higher", "lower")


def compare(
    first: Counts,
    second: Counts,
    *,
    min_samples: int = MIN_SAMPLES,
    significant: float = SIGNIFICANT,
) -> Comparison:
    """Hold ``first`` against ``second``; with fewer than ``min_samples`` outcomes on a side, or a
    p-value of ``significant`` or more, nothing is said of which is higher."""
    low, high = difference_interval((first.successes, first.n), (second.successes, second.n))
    difference = None
    if first.rate is not None and second.rate is not None:
        difference = first.rate - second.rate
    p_value = fisher_exact((first.successes, first.failures), (second.successes, second.failures))
    verdict: Verdict = "no_difference_found"
    if min(first.n, second.n) < min_samples:
        verdict = "too_few"
    elif difference is not None and p_value < significant:
        verdict = "higher" if difference > 0 else "lower"
    believed = [Beta(1 + side.successes, 1 + side.failures) for side in (first, second)]
    return Comparison(
        first=first,
        second=second,
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        probability=probability_greater(believed[0], believed[1]),
        verdict=verdict,
    )


def is_non_inferior(first: Counts, second: Counts, margin: float = INFERIOR) -> bool:
    """Whether it is shown, not only not refuted, that the first rate is at most ``margin`` below
    the second: the lower limit of the 95 % interval of their difference is above -``margin``."""
    low, _ = difference_interval((first.successes, first.n), (second.successes, second.n))
    return low > -margin
