"""What many callers want at once is done in one go, and each is answered for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from dcf.retrieval.batcher import Batcher


class Writer:
    """Doubles numbers, all of a go or none; refuses negative ones. Keeps the goes."""

    def __init__(self) -> None:
        self.goes: list[list[int]] = []
        self.may_go_on = asyncio.Event()

    async def __call__(self, values: Sequence[int]) -> list[int]:
        self.goes.append(list(values))
        await self.may_go_on.wait()
        if min(values) < 0:
            raise ValueError(f"{min(values)} is negative")
        return [2 * value for value in values]


async def begun(batcher: Batcher[int, int], *values: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(batcher(value)) for value in values]
    await asyncio.sleep(0.01)
    return tasks


async def test_who_comes_first_does_not_wait_and_the_others_go_together() -> None:
    writer = Writer()
    tasks = await begun(Batcher(writer), *range(300))
    writer.may_go_on.set()
    assert await asyncio.gather(*tasks) == [2 * value for value in range(300)]
    assert [len(go) for go in writer.goes] == [100, 100, 100]
    alone = Writer()
    batcher = Batcher(alone)
    tasks = await begun(batcher, 1) + await begun(batcher, 2, 3)
    alone.may_go_on.set()
    assert await asyncio.gather(*tasks) == [2, 4, 6]
    assert alone.goes == [[1], [2, 3]]
    assert await batcher(4) == 8, "it goes on after a pause"


async def test_one_that_fails_fails_alone() -> None:
    writer = Writer()
    batcher = Batcher(writer)
    tasks = await begun(batcher, 1) + await begun(batcher, 2, -3, 4, -5)
    writer.may_go_on.set()
    first, two, three, four, five = await asyncio.gather(*tasks, return_exceptions=True)
    assert (first, two, four) == (2, 4, 8)
    assert (str(three), str(five)) == ("-3 is negative", "-5 is negative")
    assert writer.goes == [[1], [2, -3, 4, -5], [2], [-3], [4], [-5]]


async def test_a_caller_that_goes_away_keeps_no_other_waiting() -> None:
    writer = Writer()
    batcher = Batcher(writer)
    tasks = await begun(batcher, 1) + await begun(batcher, 2, 3)
    for gone in tasks[:2]:
        gone.cancel()
    writer.may_go_on.set()
    assert await tasks[2] == 6
    for gone in tasks[:2]:
        with pytest.raises(asyncio.CancelledError):
            await gone
