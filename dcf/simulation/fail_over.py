"""A replica takes over that lacks the newest writes: the server is what it was up to a second ago.

What is promised then: a script is whole or not there at all, so the server is as it was at one
moment, and from that moment on every guarantee holds. What happened outside of it is not undone.
Work that had begun may be done again, with the idempotency key that it had; fences follow the
clock, so that no lease of the lost time counts any more; who was heard in that time is heard again
only if they say it again.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from dcf.simulation.server import Server
from dcf.simulation.weather import Weather
from dcf.simulation.witness import Witness

T = TypeVar("T")
LONGEST_S = 1.0
"""Redis promises this with ``appendfsync everysec``, and a replica usually lags less."""
_SHARE = 0.15
_MOST = 4
_BETWEEN_S = 12.0


class FailOver:
    """Happens some times under some seeds, until the weather is calm. ``number`` says how often it
    has happened."""

    def __init__(
        self, rng: random.Random, server: Server, weather: Weather, witness: Witness
    ) -> None:
        self.number = 0
        self.happens = rng.random() < _SHARE
        self._rng = rng
        self._server = server
        self._weather = weather
        self._witness = witness

    async def come(self) -> None:
        """Let it happen."""
        for _ in range(self._rng.randint(1, _MOST) if self.happens else 0):
            await asyncio.sleep(self._rng.uniform(0, _BETWEEN_S))
            if self._weather.is_calm:
                return
            content, known = self._server.twin.snapshot(), self._witness.snapshot()
            await asyncio.sleep(self._rng.uniform(0.05, LONGEST_S))
            self._server.twin.restore(content)
            self._witness.restore(known)
            self.number += 1
            self._server.trace.append(f"{asyncio.get_running_loop().time():12.6f}  fail-over")

    async def surely(self, act: Callable[[], Awaitable[T]]) -> T:
        """Do ``act``, again where it may have been forgotten."""
        while True:
            before = self.number
            done = await act()
            if not self.happens:
                return done
            await asyncio.sleep(LONGEST_S)
            if self.number == before:
                return done
