"""Rate limits: each tool waits in its own line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Sleep = Callable[[float], Awaitable[object]]


class Pacer:
    """Spaces the answers of a tool ``1 / rps`` seconds apart.

    A call takes the next free slot at once and then sleeps until it comes, so that there is no
    lock, calls keep their order, and one tool never waits for another.
    """

    def __init__(self, monotonic: Callable[[], float], sleep: Sleep) -> None:
        self._monotonic = monotonic
        self._sleep = sleep
        self._next: dict[str, float] = {}

    async def wait(self, tool: str, rps: float) -> None:
        """Return when the tool may answer again; at once when ``rps`` is 0."""
        if rps <= 0:
            return
        now = self._monotonic()
        slot = max(now, self._next.get(tool, now))
        self._next[tool] = slot + 1 / rps
        if slot > now:
            await self._sleep(slot - now)
