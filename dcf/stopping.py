"""Ending tasks that were begun beside others."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_S = 0.5


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel ``tasks`` and wait until they have ended; how they ended is not looked at.

    They are cancelled again until then: before Python 3.12 ``asyncio.wait_for``, through which the
    Redis client sends, can lose a cancellation that comes at the moment its own wait is over
    (cpython issue 86296), and work that goes on for ever would never hear of it.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=_AGAIN_S)
