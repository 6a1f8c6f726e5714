"""Intervals and tests of significance against the tables in which they were published."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from dcf.evidence import (
    Counts,
    compare,
    difference_interval,
    fisher_exact,
    holm,
    mann_whitney,
    quantile,
    spread_of,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_are_those_of_the_table(
    successes: int, n: int, low: float, high: float
) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_without_outcomes_nothing_is_known() -> None:
    assert wilson(0, 0) == (0, 1)
    assert difference_interval((0, 0), (3, 4)) == (-1, 1)


def test_a_level_of_confidence_is_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson(1, 2, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 873, table II, method 10.
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0000),
        ((10, 10), (0, 10), 0.6075, 1.0000),
    ],
)
def test_intervals_of_differences_are_those_of_the_table(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    assert difference_interval(first, second) == pytest.approx((low, high), abs=5e-5)


def test_fishers_own_examples() -> None:
    # The Design of Experiments: the lady tasting tea, 34 of 70; Science of twins: 0.0005367.
    assert fisher_exact((3, 1), (1, 3)) == pytest.approx(34 / 70)
    assert fisher_exact((2, 15), (10, 3)) == pytest.approx(0.0005367, abs=5e-8)


@pytest.mark.parametrize(
    ("first", "second"), [((7, 2), (3, 9)), ((0, 5), (5, 0)), ((1, 40), (9, 30)), ((4, 4), (4, 4))]
)
def test_fisher_by_exact_fractions(first: tuple[int, int], second: tuple[int, int]) -> None:
    (won, lost), (other_won, other_lost) = first, second
    n, other, wins = won + lost, other_won + other_lost, won + other_won

    def probability(k: int) -> Fraction:
        return Fraction(comb(n, k) * comb(other, wins - k), comb(n + other, wins))

    tables = [probability(k) for k in range(max(0, wins - other), min(n, wins) + 1)]
    exact = sum(one for one in tables if one <= probability(won))
    assert fisher_exact(first, second) == pytest.approx(float(exact))


def test_nothing_on_a_side_is_no_difference() -> None:
    assert fisher_exact((0, 0), (3, 4)) == 1
    assert mann_whitney([], [1.0]) == 1
    assert mann_whitney([2.0] * 9, [2.0] * 9) == 1


def test_holm_as_worked_out_by_hand() -> None:
    # 4 x 0.005, 3 x 0.01, 2 x 0.03, and 0.04, which is no less than the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


def test_rank_test_as_worked_out_by_hand() -> None:
    # Hollander and Wolfe (1973), permeability of membranes: U = 35; z = 9.5 / sqrt(200 / 3).
    term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    assert mann_whitney(term, early) == pytest.approx(0.2446, abs=5e-4)


def test_ties_make_the_variance_smaller() -> None:
    # Ranks 2, 2, 2, 5 | 5, 5, 7.5, 7.5: U = 1; ties 3^3-3 + 3^3-3 + 2^3-2 = 54;
    # variance 16/12 * (9 - 54/56) = 10.714; z = (8 - 1 - 0.5) / 3.273 = 1.986, p = 0.0470.
    assert mann_whitney([1, 1, 1, 2], [2, 2, 3, 3]) == pytest.approx(0.0470, abs=5e-4)


def test_quantiles_lie_between_neighbours() -> None:
    # Definition 7: position 1 + (n - 1) p.
    assert quantile([1, 2, 3, 4], 0.25) == 1.75
    assert quantile(list(range(1, 11)), 0.9) == pytest.approx(9.1)
    spread = spread_of([4, 1, 3, 2])
    assert spread is not None
    assert (spread.n, spread.total, spread.least, spread.p50, spread.most) == (4, 10, 1, 2.5, 4)
    assert spread_of([]) is None


def test_a_comparison_says_too_few_before_it_says_anything_else() -> None:
    few = compare(Counts(9, 0), Counts(0, 9))
    assert few.verdict == "too_few"
    assert few.p_value < 0.001
    assert compare(Counts(18, 2), Counts(9, 11)).verdict == "higher"
    assert compare(Counts(9, 11), Counts(18, 2)).verdict == "lower"
    assert compare(Counts(12, 8), Counts(11, 9)).verdict == "no_difference_found"
