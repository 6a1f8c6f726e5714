"""Confidence intervals of shares, and of the difference of two."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(successes: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """The score interval of the share ``successes / n`` (Wilson, JASA 22, 1927; method 3 of
    Newcombe, Statistics in Medicine 17, 1998, p. 857). Without outcomes it is (0, 1)."""
    if n <= 0:
        return 0.0, 1.0
    z = _z(level)
    share = successes / n
    middle = share + z * z / (2 * n)
    width = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # What rounding leaves at the ends is no information.
    low = 0.0 if successes <= 0 else max(0.0, (middle - width) / scale)
    high = 1.0 if successes >= n else min(1.0, (middle + width) / scale)
    return low, high


def difference_interval(
    first: tuple[float, float], second: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """The interval of the first share less the second, each ``(successes, n)``: the hybrid score
    method (method 10 of Newcombe, Statistics in Medicine 17, 1998, p. 873). Without outcomes on a
    side it is (-1, 1)."""
    (first_won, first_n), (second_won, second_n) = first, second
    if first_n <= 0 or second_n <= 0:
        return -1.0, 1.0
    share, other = first_won / first_n, second_won / second_n
    low, high = wilson(first_won, first_n, level)
    other_low, other_high = wilson(second_won, second_n, level)
    return (
        share - other - sqrt((share - low) ** 2 + (other_high - other) ** 2),
        share - other + sqrt((high - share) ** 2 + (other - other_low) ** 2),
    )


def _z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a level of confidence is between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)
