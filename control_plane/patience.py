"""Waiting for a Redis that is away, or refuses for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from control_plane.errors import Disconnected
from control_plane.lease import Lease

_AGAIN_S = 0.25
_T = TypeVar("_T")


async def insist(
    act: Callable[[], Awaitable[_T]], for_s: float, *, on: type[Disconnected] = Disconnected
) -> _T:
    """What ``act`` gives, which is repeated for ``for_s`` seconds of the running loop's clock as
    long as it raises ``on``. Raises that after them, and anything else at once. A try that began in
    time is let go on to its end: what was sent may have taken effect."""
    clock = asyncio.get_running_loop().time
    until = clock() + for_s
    while True:
        try:
            return await act()
        except on:
            if clock() >= until:
                raise
            await asyncio.sleep(_AGAIN_S)


def patiently(lease: Lease, act: Callable[[], Awaitable[_T]]) -> Coroutine[Any, Any, _T]:
    """``insist`` for as long as ``lease`` may hold: work that is finished is not repeated because
    Redis restarts, or takes no writes for a while."""
    return insist(act, lease.ttl_ms / 1000)
