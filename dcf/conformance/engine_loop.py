"""An event loop on virtual time that also speaks to a real server: while a call to the server is
under way time stands still, and when nothing is left to do at this moment it jumps to the next one.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SILENCE_S = 60.0


class EngineLoop(asyncio.SelectorEventLoop):
    """``now`` is its clock, in seconds since it began.

    ``on_idle`` is asked before each jump: True when it found something to do. ``None`` is handed
    to it where nothing could ever happen any more, else the seconds to the next timer.
    """

    def __init__(self) -> None:
        self.on_idle: Callable[[float | None], bool] = _nothing
        self._calls = 0
        super().__init__(_Selector(self))
        self.now = 0.0

    def time(self) -> float:
        return self.now

    @property
    def now(self) -> float:
        """Seconds since it began."""
        return self._now

    @now.setter
    def now(self, seconds: float) -> None:
        self._now = seconds
        # A timer is due before now and what a clock can tell apart: what is lost in rounding must
        # not be less.
        self._clock_resolution = max(1e-6, math.ulp(seconds))

    @property
    def is_calling(self) -> bool:
        """Whether an answer of the server is awaited."""
        return self._calls > 0

    @contextmanager
    def calling(self) -> Iterator[None]:
        """A call to the server is under way."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1


class _Selector(selectors.DefaultSelector):
    """What the loop asks to wait."""

    def __init__(self, loop: EngineLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        loop = self._loop
        if timeout is not None and timeout <= 0:
            return super().select(0)
        if loop.is_calling:
            found = super().select(_SILENCE_S)
            if not found:
                raise TimeoutError(f"the server has said nothing for {_SILENCE_S:.0f} s")
            return found
        if loop.on_idle(timeout):
            return super().select(0)
        if timeout is None:
            raise RuntimeError("every task waits for another, and no timer is set")
        loop.now += timeout
        return super().select(0)


def _nothing(_: float | None) -> bool:
    return False
