"""How long a call is said again to a Redis that is away, on virtual time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from control_plane import Disconnected, RefusedForNow, ServerError, insist
from dcf.simulation.virtual_loop import VirtualLoop, run_virtually

NAP_S = 0.25


class Stalled:
    """A call that takes ``takes_s`` seconds, and gives its number once ``fails`` calls have failed;
    when each began."""

    def __init__(self, loop: VirtualLoop, takes_s: float, fails: float = math.inf) -> None:
        self._loop = loop
        self._takes_s = takes_s
        self._fails = fails
        self.began: list[float] = []

    async def __call__(self) -> int:
        self.began.append(self._loop.now)
        await asyncio.sleep(self._takes_s)
        if len(self.began) <= self._fails:
            raise Disconnected("the network is silent")
        return len(self.began)


def insisted(loop: VirtualLoop, act: Callable[[], Awaitable[int]], for_s: float, **on: Any) -> int:
    return run_virtually(loop, insist(act, for_s, **on))


@pytest.mark.parametrize("takes_s", [0.0, 0.2, 10.0, 40.0])
def test_tries_end_with_the_time_however_long_each_takes(takes_s: float) -> None:
    loop = VirtualLoop()
    # A moment at which sums of seconds are rounded.
    since = loop.now = 1_000_000 / 3
    act = Stalled(loop, takes_s)
    with pytest.raises(Disconnected):
        insisted(loop, act, 30.0)
    assert act.began[-1] - since <= 30.0 + NAP_S
    # It is tried to the end of the time as well, and the last try is not cut short.
    assert since + 30.0 <= loop.now == act.began[-1] + takes_s


def test_what_is_answered_in_time_is_given() -> None:
    loop = VirtualLoop()
    assert insisted(loop, Stalled(loop, 5.0, fails=3), 30.0) == 4
    assert loop.now < 30.0


def test_who_insists_without_end_waits_as_long_as_it_lasts() -> None:
    loop = VirtualLoop()
    assert insisted(loop, Stalled(loop, 40.0, fails=100), math.inf) == 101


@pytest.mark.parametrize("error", [ServerError("no"), Disconnected("away")])
def test_what_is_not_waited_for_is_raised_at_once(error: Exception) -> None:
    loop = VirtualLoop()

    async def act() -> int:
        raise error

    with pytest.raises(type(error)):
        insisted(loop, act, 30.0, on=RefusedForNow)
    assert loop.now == 0.0
