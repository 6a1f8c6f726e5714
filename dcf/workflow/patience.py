"""Waiting for a Redis that is away, or refuses, while a lease is held."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from control_plane import Disconnected, Lease

_AWAY_S = 0.25
_T = TypeVar("_T")


async def patiently(lease: Lease, act: Callable[[], Awaitable[_T]]) -> _T:
    """What ``act`` gives; it is said again and again as long as the lease may hold, so that work
    that is done is not done twice because Redis restarts, or takes no writes for a while. Raises
    Disconnected after that."""
    patience_s = lease.ttl_ms / 1000
    while True:
        try:
            return await act()
        except Disconnected:
            if patience_s <= 0:
                raise
            await asyncio.sleep(_AWAY_S)
            patience_s -= _AWAY_S
