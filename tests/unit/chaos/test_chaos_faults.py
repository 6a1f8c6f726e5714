"""Which faults happen: each possible kind, also in a short campaign."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable

from dcf.simulation.virtual_loop import VirtualLoop, run_virtually
from tests.chaos.faults import Fault, Faults

RARE, OFTEN, IMPOSSIBLE = "rare", "often", "impossible"


def virtually(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """The minutes of a campaign cost no time."""

    def tested() -> None:
        run_virtually(VirtualLoop(), test())

    return tested


def faults_of(seed: int, *, rare_happens: bool = True, each_s: float = 0.001) -> Faults:
    async def happen() -> bool:
        return True

    async def not_now() -> bool:
        return False

    kinds = {
        OFTEN: Fault(1_000, happen),
        RARE: Fault(1, happen if rare_happens else not_now),
        IMPOSSIBLE: Fault(1_000, happen, "no right to"),
    }
    return Faults(kinds, random.Random(seed), each_s=each_s)


def test_what_has_not_happened_yet_is_chosen_more_often() -> None:
    faults = faults_of(1)
    before = Counter(faults.choose(0.4) for _ in range(100))
    faults.happened.update((RARE, OFTEN))
    after = Counter(faults.choose(0.4) for _ in range(100))
    assert before[RARE] > 10 > after[RARE]
    assert after[OFTEN] > 90


@virtually
async def test_a_campaign_goes_on_for_what_has_not_happened() -> None:
    now = asyncio.get_running_loop().time
    ends = now() + 60

    async def happen() -> bool:
        return True

    async def late() -> bool:
        return now() > ends

    kinds = {OFTEN: Fault(1, happen), RARE: Fault(1, late)}
    faults = Faults(kinds, random.Random(1), each_s=1.0)
    await faults.happen(60)
    assert faults.happened[RARE] == 1
    assert ends < now() < ends + 30


@virtually
async def test_a_campaign_ends_also_where_a_kind_never_happens() -> None:
    now = asyncio.get_running_loop().time
    begins = now()
    faults = faults_of(1, rare_happens=False, each_s=1.0)
    await faults.happen(60)
    assert faults.owed() == [RARE]
    assert 120 < now() - begins < 150


async def test_what_is_impossible_here_is_not_tried_and_has_no_count() -> None:
    faults = faults_of(1)
    await faults.happen(0.2)
    assert set(faults.happened) == {RARE, OFTEN}
    assert faults.impossible == {IMPOSSIBLE: "no right to"}


async def test_a_fault_that_could_not_happen_is_not_counted() -> None:
    faults = faults_of(1, rare_happens=False)
    await faults.happen(0.2)
    assert faults.happened[RARE] == 0 < faults.happened[OFTEN]
