"""Beliefs and probabilities of being best, against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.evidence import Beta, best_probabilities, probability_greater

Polynomial = list[Fraction]
Shapes = st.tuples(st.integers(1, 12), st.integers(1, 12))


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    product = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            product[i + j] += one * other
    return product


def _density(a: int, b: int) -> Polynomial:
    """x^(a-1) (1-x)^(b-1) / B(a, b), by powers of x."""
    scale = Fraction(a * comb(a + b - 1, a))
    tail = [Fraction((-1) ** k * comb(b - 1, k)) * scale for k in range(b)]
    return [Fraction(0)] * (a - 1) + tail


def _integral(polynomial: Polynomial) -> Polynomial:
    return [Fraction(0), *(value / (k + 1) for k, value in enumerate(polynomial))]


def _exact_best(shapes: list[tuple[int, int]]) -> list[float]:
    best = []
    for i, shape in enumerate(shapes):
        product = _density(*shape)
        for j, other in enumerate(shapes):
            if j != i:
                product = _times(product, _integral(_density(*other)))
        best.append(float(sum(_integral(product))))
    return best


@given(Shapes, st.floats(0.01, 0.99))
@settings(max_examples=60, deadline=None)
def test_the_distribution_is_the_binomial_sum(shape: tuple[int, int], x: float) -> None:
    a, b = shape
    n = a + b - 1
    tail = sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
    assert Beta(a, b).cdf(x) == pytest.approx(tail, abs=1e-12)


@given(st.floats(1, 5_000), st.floats(1, 5_000), st.floats(0.001, 0.999))
@settings(max_examples=60, deadline=None)
def test_a_quantile_is_where_the_distribution_gets_there(a: float, b: float, p: float) -> None:
    belief = Beta(a, b)
    assert belief.cdf(belief.quantile(p)) == pytest.approx(p, abs=1e-7)


@given(st.lists(Shapes, min_size=2, max_size=4))
@settings(max_examples=40, deadline=None)
def test_who_is_best_is_the_exact_integral(shapes: list[tuple[int, int]]) -> None:
    found = best_probabilities([Beta(a, b) for a, b in shapes])
    assert found == pytest.approx(_exact_best(shapes), abs=1e-8)


def test_who_is_best_with_shares_of_outcomes() -> None:
    # P(X > U) of a uniform U is the mean of X.
    assert probability_greater(Beta(2.5, 1.0), Beta(1, 1)) == pytest.approx(5 / 7, abs=1e-6)
    assert probability_greater(Beta(7.3, 2.9), Beta(1, 1)) == pytest.approx(7.3 / 10.2, abs=1e-6)


def test_sharp_beliefs_among_blunt_ones() -> None:
    # Nearly a point at 0.9 against a uniform one: above it with 0.1.
    sharp, blunt = Beta(900_001, 100_001), Beta(1, 1)
    assert best_probabilities([sharp, blunt]) == pytest.approx((0.9, 0.1), abs=1e-6)
    assert best_probabilities([sharp, sharp]) == pytest.approx((0.5, 0.5), abs=1e-9)
    assert best_probabilities([Beta(3, 1)]) == (1.0,)


def test_half_of_the_interval_is_on_each_side() -> None:
    # Beta(1, 1) is uniform; Beta(2, 1) has the distribution x^2.
    assert Beta(1, 1).interval() == pytest.approx((0.025, 0.975), abs=1e-9)
    assert Beta(2, 1).interval() == pytest.approx((0.025**0.5, 0.975**0.5), abs=1e-9)
