"""Which faults happen: each possible kind, also in a short campaign."""

from __future__ import annotations

import random
from collections import Counter

from tests.chaos.faults import Fault, Faults

RARE, OFTEN, IMPOSSIBLE = "rare", "often", "impossible"


def faults_of(seed: int, *, rare_happens: bool = True) -> Faults:
    async def happen() -> bool:
        return True

    async def not_now() -> bool:
        return False

    kinds = {
        OFTEN: Fault(1_000, happen),
        RARE: Fault(1, happen if rare_happens else not_now),
        IMPOSSIBLE: Fault(1_000, happen, "no right to"),
    }
    return Faults(kinds, random.Random(seed), each_s=0.001)


def test_what_has_not_happened_yet_is_chosen_more_often() -> None:
    faults = faults_of(1)
    before = Counter(faults.choose() for _ in range(100))
    faults.happened.update((RARE, OFTEN))
    after = Counter(faults.choose() for _ in range(100))
    assert before[RARE] > 10 > after[RARE]
    assert after[OFTEN] > 90


async def test_what_is_impossible_here_is_not_tried_and_has_no_count() -> None:
    faults = faults_of(1)
    await faults.happen(0.2)
    assert set(faults.happened) == {RARE, OFTEN}
    assert faults.impossible == {IMPOSSIBLE: "no right to"}


async def test_a_fault_that_could_not_happen_is_not_counted() -> None:
    faults = faults_of(1, rare_happens=False)
    await faults.happen(0.2)
    assert faults.happened[RARE] == 0 < faults.happened[OFTEN]
