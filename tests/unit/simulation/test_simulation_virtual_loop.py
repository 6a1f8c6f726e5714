"""Time is virtual: it passes only while nothing else can happen."""

from __future__ import annotations

import asyncio
import time

import pytest

from dcf.simulation.virtual_loop import Stuck, VirtualLoop, at_once, run_virtually


def test_an_hour_of_sleep_takes_no_time_and_an_hour_of_the_loops_clock() -> None:
    loop = VirtualLoop()
    started = time.monotonic()
    run_virtually(loop, asyncio.sleep(3600))
    assert time.monotonic() - started < 5
    assert loop.now == pytest.approx(3600)


def test_sleepers_wake_in_the_order_of_their_moments() -> None:
    woken: list[float] = []

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append(seconds)

    async def main() -> None:
        await asyncio.gather(*map(sleep, (3, 1, 2, 0.5)))

    run_virtually(VirtualLoop(), main())
    assert woken == [0.5, 1, 2, 3]


@pytest.mark.parametrize("seconds", [366 * 24 * 3600, 8_000 * 366 * 24 * 3600])
def test_a_timer_comes_due_years_later_too(seconds: int) -> None:
    async def main() -> None:
        await asyncio.sleep(seconds)
        for pause in (1.0, 0.1, 1 / 3):
            await asyncio.sleep(pause)

    loop = VirtualLoop()
    run_virtually(loop, main())
    assert loop.now == pytest.approx(seconds + 1 + 0.1 + 1 / 3)


def test_time_limits_hold_on_virtual_time() -> None:
    loop = VirtualLoop()

    async def main() -> None:
        async with asyncio.timeout(10):
            await asyncio.sleep(11)

    with pytest.raises(TimeoutError):
        run_virtually(loop, main())
    assert loop.now == pytest.approx(10)


def test_a_wait_that_nothing_can_end_is_reported() -> None:
    with pytest.raises(Stuck):
        run_virtually(VirtualLoop(), asyncio.Event().wait())


def test_at_once_gives_the_result_of_a_coroutine_that_never_waits() -> None:
    async def seven() -> int:
        return 7

    assert at_once(seven()) == 7


def test_at_once_refuses_a_coroutine_that_waits() -> None:
    with pytest.raises(Stuck):
        at_once(asyncio.sleep(0))
