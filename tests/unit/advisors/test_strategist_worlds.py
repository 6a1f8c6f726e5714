"""Sessions whose truth only the world knows: some seeds of `python -m benchmarks.strategist`."""

from __future__ import annotations

import pytest
from campaigns import settled

from benchmarks.strategist import live
from benchmarks.strategist_truths import QUIET, WORLDS

pytestmark = settled(
    "benchmarks/strategist.py",
    "benchmarks/strategist_truths.py",
    "benchmarks/strategist_world.py",
    "control_plane",
    "dcf/advisors",
    "dcf/evidence",
    "dcf/guidelines",
    "dcf/knowledge",
    "dcf/skills",
    "requirements/dev.txt",
)

BY_NAME = {world.name: world for world in WORLDS}
SEEDS = range(4)


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("skills", 480),
        ("speed", 480),
        ("failing skill", 360),
        ("failing companion", 360),
        ("overload", 240),
        ("idleness", 120),
        ("tiers", 360),
    ],
)
def test_most_of_what_is_there_is_found_and_nothing_else(name: str, tasks: int) -> None:
    lives = [live(BY_NAME[name], seed, tasks=tasks, every=tasks // 2) for seed in SEEDS]
    found = [at is not None for life in lives for at in life.found.values()]
    assert sum(found) >= 0.75 * len(found)
    assert [life.false for life in lives if life.false] == []


def test_where_nothing_is_wrong_next_to_nothing_is_said() -> None:
    lives = [live(QUIET, seed, tasks=120, every=8) for seed in range(8)]
    assert sum(bool(life.false) for life in lives) <= 1


def test_a_seed_is_a_session() -> None:
    world = BY_NAME["skills"]
    first, again = (live(world, 3, tasks=120, every=60) for _ in range(2))
    assert first == again
