"""The loop of planning, running and reflecting, in worlds whose truth only the world knows.

Eight seeds of what `python -m benchmarks.learning_loop` measures over two hundred, with the figures
that are promised; the tests know the truth, what they test does not. The loop is the one that
ships: versions are chosen by `choose_version`, with published guidelines, and records as the graph
keeps them.
"""

from __future__ import annotations

from statistics import fmean

import pytest

from benchmarks.learning_loop import SCENARIOS, ByEvidence, Life, live

SEEDS = range(8)


@pytest.fixture(scope="module")
def steady() -> list[Life]:
    return [live(SCENARIOS[0], seed, ByEvidence, switches=False) for seed in SEEDS]


@pytest.fixture(scope="module")
def moved() -> list[Life]:
    return [live(SCENARIOS[0], seed, ByEvidence, switches=True) for seed in SEEDS]


def test_after_150_runs_the_best_version_is_recommended(steady: list[Life]) -> None:
    assert fmean(right for life in steady for right in life.right(150)) >= 0.85


def test_what_is_said_to_be_sure_is_right(steady: list[Life], moved: list[Life]) -> None:
    sure = [right for life in (*steady, *moved) for right in life.sure()]
    assert len(sure) > 200
    assert fmean(sure) >= 0.85


def test_late_runs_come_close_to_the_best_possible(steady: list[Life]) -> None:
    assert fmean(fmean(life.shortfall[300:]) for life in steady) <= 0.05


def test_advice_follows_when_the_truth_moves(moved: list[Life]) -> None:
    assert fmean(changed for life in moved for changed in life.changed()) >= 0.85


def test_a_seed_is_a_life(steady: list[Life]) -> None:
    again = live(SCENARIOS[0], SEEDS[3], ByEvidence, switches=False)
    assert again == steady[3]
