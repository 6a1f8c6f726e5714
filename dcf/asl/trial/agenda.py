"""What happens when, on a virtual clock."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

from dcf.asl.trial.execution import VirtualClock


class Agenda:
    """Things to do in the order of their time; at one time, in the order they were added."""

    __slots__ = ("_clock", "_later", "_now", "_order")

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self._now: deque[Callable[[], None]] = deque()
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0

    def now(self, happen: Callable[[], None]) -> None:
        """Add what happens next, before the clock moves."""
        self._now.append(happen)

    def after(self, seconds: float, happen: Callable[[], None]) -> None:
        """Add what happens ``seconds`` from now."""
        if seconds <= 0:
            self._now.append(happen)
            return
        self._order += 1
        heapq.heappush(self._later, (self._clock.now + seconds, self._order, happen))

    def next(self) -> Callable[[], None] | None:
        """Take the next thing, the clock moved to its time; None when nothing is left."""
        if self._now:
            return self._now.popleft()
        if not self._later:
            return None
        at, _, happen = heapq.heappop(self._later)
        self._clock.now = max(self._clock.now, at)
        return happen
