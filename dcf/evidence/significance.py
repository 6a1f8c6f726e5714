"""Whether a difference may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, lgamma, sqrt


def fisher_exact(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The two-sided p-value of Fisher's exact test (The Design of Experiments, 1935) of two
    ``(successes, failures)``: the probability, were there no difference, of all tables with these
    margins that are no more probable than this one."""
    won, lost = first
    other_won, other_lost = second
    n, other_n, wins = won + lost, other_won + other_lost, won + other_won
    if n == 0 or other_n == 0:
        return 1.0
    low, high = max(0, wins - other_n), min(n, wins)
    whole = _log_choose(n + other_n, wins)
    logs = [
        _log_choose(n, k) + _log_choose(other_n, wins - k) - whole for k in range(low, high + 1)
    ]
    # Tables of the same probability differ by rounding; they count as the same.
    border = logs[won - low] + 1e-9
    return min(1.0, sum(exp(value) for value in logs if value <= border))


def mann_whitney(first: Sequence[float], second: Sequence[float]) -> float:
    """The two-sided p-value of the rank test of Mann and Whitney (Annals of Mathematical Statistics
    18, 1947), by its normal approximation with correction for ties and continuity: whether values
    of one side tend to be larger. Good from about eight values on each side."""
    n, other = len(first), len(second)
    if n == 0 or other == 0:
        return 1.0
    marked = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    rank_sum, ties, index = 0.0, 0.0, 0
    while index < len(marked):
        end = index
        while end < len(marked) and marked[end][0] == marked[index][0]:
            end += 1
        alike = end - index
        own = sum(1 for _, side in marked[index:end] if side == 0)
        rank_sum += own * (index + 1 + end) / 2
        ties += alike**3 - alike
        index = end
    total = n + other
    variance = n * other / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    distance = abs(rank_sum - n * (n + 1) / 2 - n * other / 2) - 0.5
    return min(1.0, erfc(max(distance, 0.0) / sqrt(variance) / sqrt(2)))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """The p-values of several tests, raised so that the probability of any false alarm among them
    stays below what one is held against (Holm, Scandinavian Journal of Statistics 6, 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    raised = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        raised[index] = highest
    return tuple(raised)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
