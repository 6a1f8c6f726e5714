"""Waiting for a Redis that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from control_plane import Disconnected, Lease
from dcf.worker.lease_lost import LeaseLost

_AWAY_S = 0.25
_T = TypeVar("_T")


async def patiently(lease: Lease, act: Callable[[], Awaitable[_T]]) -> _T:
    """What ``act`` gives; a server that is away is waited for as long as the lease may hold. Raises
    LeaseLost after that: nothing can be put on record, so nothing can be called."""
    patience_s = lease.ttl_ms / 1000
    while True:
        try:
            return await act()
        except Disconnected as error:
            if patience_s <= 0:
                raise LeaseLost("disconnected") from error
            await asyncio.sleep(_AWAY_S)
            patience_s -= _AWAY_S
