"""The loop of planning, running and reflecting, in worlds whose truth only the world knows.

Eight seeds, four of them in `make test`, of what `python -m benchmarks.learning_loop` measures over
two hundred, with the figures that are promised; the tests know the truth, what they test does not.
The loop is the one that ships: versions are chosen by `choose_version`, with published guidelines,
and records as the graph keeps them. Each test asks all that there is to ask of its worlds: to make
them again, in another process, for another question would cost seconds.
"""

from __future__ import annotations

from statistics import fmean

from campaigns import campaign, settled

from benchmarks.learning_loop import SCENARIOS, ByEvidence, Life, live
from benchmarks.learning_seeds import Post, course

pytestmark = settled(
    "benchmarks/learning_loop.py",
    "benchmarks/learning_seeds.py",
    "benchmarks/learning_world.py",
    "control_plane",
    "dcf/advisors",
    "dcf/evidence",
    "dcf/guidelines",
    "dcf/knowledge",
    "dcf/planner",
    "dcf/skills",
    "dcf/workflow",
    "requirements/dev.txt",
)


def lives(share: int, *, switches: bool) -> list[Life]:
    seeds = range(share * 4, share * 4 + 4)
    return [live(SCENARIOS[0], seed, ByEvidence, switches=switches) for seed in seeds]


def check_what_is_sure(found: list[Life], *, at_least: int) -> None:
    """Advice that is given as certain is right at least 85 times of 100."""
    sure = [right for life in found for right in life.sure()]
    assert len(sure) > at_least
    assert fmean(sure) >= 0.85


@campaign(shares=2)
def test_the_best_version_is_recommended_and_soon_taken(share: int) -> None:
    steady = lives(share, switches=False)
    assert fmean(right for life in steady for right in life.right(150)) >= 0.85
    check_what_is_sure(steady, at_least=60)
    late = [fmean(life.shortfall[300:]) for life in steady]
    assert fmean(late) <= 0.05, "late runs come close to the best possible"
    again = live(SCENARIOS[0], share * 4, ByEvidence, switches=False)
    assert again == steady[0], "a seed is a life"
    alone, _ = course(SCENARIOS[0], share * 4, Post())
    assert alone.shortfall == again.shortfall, "the fast path chooses the same"


@campaign(shares=2)
def test_advice_follows_when_the_truth_moves(share: int) -> None:
    moved = lives(share, switches=True)
    assert fmean(changed for life in moved for changed in life.changed()) >= 0.85
    check_what_is_sure(moved, at_least=20)
