"""Waiting for another process: look at once, then ever less often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

_FIRST_S = 0.005
_LONGEST_S = 0.1


async def pauses() -> AsyncIterator[None]:
    """Yields without end: now, after 5 ms, 10 ms, … and from then on every 100 ms."""
    pause_s = _FIRST_S
    while True:
        yield
        await asyncio.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_S)
