"""The keeper on a thread and a connection of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from control_plane import Store
from dcf.worker.keeper import LeaseKeeper


class KeeperThread:
    """Runs a ``LeaseKeeper`` in a thread with its own event loop.

    ``open_store`` is called inside the thread, since connections belong to the loop that made them.
    """

    def __init__(self, open_store: Callable[[], Store]) -> None:
        self._open_store = open_store
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._main, name="lease-keeper", daemon=True)
        self.keeper: LeaseKeeper

    def __enter__(self) -> Self:
        """Start it. Raises what ``open_store`` raises."""
        self._thread.start()
        self._ready.wait()
        if self._failed is not None:
            self._thread.join()
            raise self._failed
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _main(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        try:
            store = self._open_store()
        except Exception as error:  # noqa: BLE001 - it is raised in the thread that waits for it
            self._failed = error
            self._ready.set()
            return
        self.keeper = LeaseKeeper(store, now=time.monotonic)
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(self.keeper.run())
        self._ready.set()
        try:
            # A defect of the keeper ends the thread with its traceback, not in silence.
            with suppress(asyncio.CancelledError):
                await self._task
        finally:
            await store.backend.close()
