"""The Beta distribution: what is believed of a probability after successes and failures."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

_CONVERGED = 1e-15
_TINY = 1e-300
_NEAR = 1e-12


@dataclass(frozen=True, slots=True)
class Beta:
    """Beta(a, b). With a uniform prior, ``a`` is one more than the successes, ``b`` one more than
    the failures (Bayes 1763; Gelman et al., Bayesian Data Analysis, 3rd ed., 2.4)."""

    a: float
    b: float

    @property
    def mean(self) -> float:
        return self.a / (self.a + self.b)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        total = self.a + self.b
        return sqrt(self.a * self.b / (total + 1)) / total

    def cdf(self, x: float) -> float:
        """P(p <= x), by the continued fraction of DLMF 8.17.22."""
        if x <= 0:
            return 0.0
        if x >= 1:
            return 1.0
        front = exp(self.a * log(x) + self.b * log1p(-x) - log_beta(self.a, self.b))
        # The fraction converges fast below the mean; above it, the other tail is computed.
        if x < (self.a + 1) / (self.a + self.b + 2):
            return front * _fraction(self.a, self.b, x) / self.a
        return 1 - front * _fraction(self.b, self.a, 1 - x) / self.b

    def quantile(self, share: float) -> float:
        """The x with P(p <= x) = ``share``, by Newton's method, and by halves where that leaves the
        bracket."""
        if not 0 < share < 1:
            return min(1.0, max(0.0, share))
        low, high = 0.0, 1.0
        near = self.mean + NormalDist().inv_cdf(share) * self.deviation
        x = near if low < near < high else self.mean
        while high - low > _NEAR:
            off = self.cdf(x) - share
            low, high = (x, high) if off < 0 else (low, x)
            density = self.density(x)
            further = x - off / density if density > 0 else low
            if not low < further < high:
                further = (low + high) / 2
            if abs(further - x) < _NEAR:
                return further
            x = further
        return (low + high) / 2

    def density(self, x: float) -> float:
        """The probability density at ``x``, between 0 and 1."""
        return exp((self.a - 1) * log(x) + (self.b - 1) * log1p(-x) - log_beta(self.a, self.b))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The central credible interval: p is in it with probability ``level``."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)


def log_beta(a: float, b: float) -> float:
    """ln B(a, b)."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of DLMF 8.17.22, by the modified Lentz method.

    It takes some sqrt(max(a, b)) terms (Press et al., Numerical Recipes, 6.4).
    """
    c = 1.0
    d = 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_zero(1 + even * d)
        c = _away_from_zero(1 + even / c)
        value *= c * d
        d = 1 / _away_from_zero(1 + odd * d)
        c = _away_from_zero(1 + odd / c)
        value *= c * d
        if abs(c * d - 1) < _CONVERGED * 10:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge: {a}, {b}, {x}")


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
