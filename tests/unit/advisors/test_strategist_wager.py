"""Evidence that may be looked at at any time: against sums done another way, and fair bets."""

from __future__ import annotations

from itertools import product
from math import comb
from random import Random

import pytest

from dcf.advisors.strategist.wager import (
    known_before,
    load_above,
    load_below,
    p_value,
    quicker,
    share_above,
    succeeds_less,
    succeeds_more,
)
from dcf.evidence import Counts, fisher_exact


@pytest.mark.parametrize(("hits", "misses", "limit"), [(0, 0, 0.25), (3, 1, 0.25), (7, 13, 0.5)])
def test_evidence_on_a_share_is_the_integral_that_it_says(
    hits: int, misses: int, limit: float
) -> None:
    steps = 100_000
    width = (1 - limit) / steps
    points = (limit + (step + 0.5) * width for step in range(steps))
    summed = sum(p**hits * (1 - p) ** misses for p in points) * width
    fair = limit**hits * (1 - limit) ** misses * (1 - limit)
    assert share_above(hits, misses, limit) == pytest.approx(summed / fair, rel=1e-6)


@pytest.mark.parametrize("rate", [0.1, 0.25])
def test_a_bet_on_a_share_wins_nothing_on_average_while_the_share_is_small(rate: float) -> None:
    n = 12
    expected = sum(
        comb(n, hits) * rate**hits * (1 - rate) ** (n - hits) * share_above(hits, n - hits, 0.25)
        for hits in range(n + 1)
    )
    assert expected <= 1 + 1e-9
    assert expected > (0.99 if rate == 0.25 else 0)


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
def test_a_bet_on_blocks_wins_nothing_on_average_whatever_rate_both_have(rate: float) -> None:
    """Three blocks of one and two others, all ways in which they can end."""
    expected = [0.0, 0.0]
    for ends in product((0, 1), repeat=9):
        chance = 1.0
        for end in ends:
            chance *= rate if end else 1 - rate
        blocks = [(ends[at], ends[at + 1] + ends[at + 2], 2) for at in (0, 3, 6)]
        expected[0] += chance * succeeds_more(blocks)
        expected[1] += chance * succeeds_less(blocks)
    assert max(expected) <= 1 + 1e-9
    assert min(expected) > 0.5


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_bet_on_places_is_fair_while_all_places_are_equally_probable(size: int) -> None:
    expected = sum(quicker([(place, size)]) for place in range(size + 1)) / (size + 1)
    assert expected == pytest.approx(1)
    assert quicker([(0, size)] * 10) > 100 > 1 > quicker([(size, size)] * 10)


def test_a_bet_on_the_load_is_fair_while_the_load_is_what_it_is_held_against() -> None:
    for working in (1, 3):
        arrives = 0.8 * 3 / (0.8 * 3 + working)
        for bet in (load_above, load_below):
            ended = [(True, working)], [(False, working)]
            expected = arrives * bet(ended[0], 3, 0.8) + (1 - arrives) * bet(ended[1], 3, 0.8)
            assert expected == pytest.approx(1)


def test_looking_after_each_outcome_finds_no_more_than_was_promised() -> None:
    """Ville's inequality, seen: 2,000 sequences at the limit, each looked at 60 times."""
    random, alarms = Random(1), 0
    for _ in range(2_000):
        hits, loud = 0, False
        for n in range(1, 61):
            hits += random.random() < 0.25
            loud = loud or share_above(hits, n - hits, 0.25) >= 20
        alarms += loud
    assert alarms / 2_000 <= 0.05


def test_what_was_known_before_counts_by_its_p_value() -> None:
    first, second = Counts(18, 2), Counts(8, 12)
    assert known_before(first, second) == pytest.approx(
        0.5 * fisher_exact((18, 2), (8, 12)) ** -0.5
    )
    assert known_before(second, first) == 0.5
    assert known_before(Counts(), second) == 1


def test_a_p_value_of_evidence_is_its_inverse() -> None:
    assert [p_value(one) for one in (0.2, 1, 40)] == [1, 1, 0.025]
