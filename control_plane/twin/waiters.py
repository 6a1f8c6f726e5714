"""Readers that wait for a key to change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from control_plane.twin.keyspace import Keyspace


class Waiters:
    """Futures by key, woken in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def changes(self, keys: Sequence[str]) -> AsyncIterator[asyncio.Future[None]]:
        """A future that is done when one of ``keys`` changes."""
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for key in keys:
            self._waiting.setdefault(key, []).append(change)
        try:
            yield change
        finally:
            for key in keys:
                self._drop(key, change)

    def _drop(self, key: str, change: asyncio.Future[None]) -> None:
        waiting = self._waiting[key]
        waiting.remove(change)
        if not waiting:
            del self._waiting[key]

    def wake(self, space: Keyspace) -> None:
        """Wake whoever waits for a key that the last command or script changed."""
        if not space.woken:
            return
        for key in space.woken if self._waiting else ():
            for change in self._waiting.get(key, ()):
                if not change.done():
                    change.set_result(None)
        space.woken.clear()
