"""The loop of choosing, running and advising, in worlds whose truth only the world knows.

Ten seeds of what `python -m benchmarks.learning_loop` measures over two hundred, with the figures
that are promised; the tests know the truth, the analysis does not.
"""

from __future__ import annotations

from statistics import fmean

import pytest

from benchmarks.learning_loop import (
    SCENARIOS,
    SWITCH,
    Advice,
    Life,
    by_evidence,
    live,
)

SEEDS = range(10)


@pytest.fixture(scope="module")
def steady() -> list[Life]:
    return [live(SCENARIOS[0], seed, by_evidence, switches=False) for seed in SEEDS]


@pytest.fixture(scope="module")
def moved() -> list[Life]:
    return [live(SCENARIOS[0], seed, by_evidence, switches=True) for seed in SEEDS]


def advice(lives: list[Life], runs: int) -> list[Advice]:
    return [one for life in lives for one in life.at(runs).values()]


def test_after_150_runs_the_best_version_is_recommended(steady: list[Life]) -> None:
    assert fmean(one.right for one in advice(steady, 150)) >= 0.85


def test_what_is_said_to_be_sure_is_right(steady: list[Life], moved: list[Life]) -> None:
    sure = [right for life in (*steady, *moved) for right in life.sure()]
    assert len(sure) > 200
    assert fmean(sure) >= 0.85


def test_late_runs_come_close_to_the_best_possible(steady: list[Life]) -> None:
    assert fmean(fmean(life.shortfall[300:]) for life in steady) <= 0.05


def test_advice_follows_when_the_truth_moves(moved: list[Life]) -> None:
    changed = []
    for life in moved:
        before, now = life.at(SWITCH), life.at(350)
        changed += [
            now[task].version != before[task].version or not before[task].right for task in now
        ]
    assert fmean(changed) >= 0.85


def test_a_seed_is_a_life(steady: list[Life]) -> None:
    again = live(SCENARIOS[0], SEEDS[3], by_evidence, switches=False)
    assert again == steady[3]
