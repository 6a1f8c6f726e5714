"""Work under a lease that is being kept: it is cancelled as soon as the authority is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from control_plane import Lease
from dcf.worker.keeper import LeaseKeeper, Watch
from dcf.worker.lease_lost import LeaseLost
from dcf.worker.performer import Beat
from dcf.workflow import Outcome, Task


class KeptLease:
    """A lease that is kept while this is entered.

    Raises LeaseLost when it was lost; what was under way in the task that entered it was cancelled
    then.
    """

    def __init__(self, keeper: LeaseKeeper, lease: Lease) -> None:
        self._keeper = keeper
        self._lease = lease
        self._lost: list[str] = []
        self._over = False
        self._working: asyncio.Task[object] | None = None
        self._watch: Watch | None = None

    def __enter__(self) -> Self:
        self._working = asyncio.current_task()
        loop = asyncio.get_running_loop()
        # The keeper may run in another thread.
        self._watch = self._keeper.watch(
            self._lease, lambda code: loop.call_soon_threadsafe(self._stop, code)
        )
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._over = True
        if self._watch is not None:
            self._keeper.unwatch(self._watch)
        if not self._lost or self._working is None:
            return
        others = self._working.uncancel()
        if others == 0 and (error is None or isinstance(error, asyncio.CancelledError)):
            raise LeaseLost(self._lost[0]) from None

    async def work(
        self, task: Task, perform: Callable[[Task, Beat], Awaitable[Outcome]]
    ) -> Outcome:
        """The outcome of ``task``, whose own limits of time count from here."""
        watch = self._watch
        if watch is None:
            raise RuntimeError("the lease is not kept yet")
        self._keeper.limit(watch, limit_s=task.timeout_s, heartbeat_s=task.heartbeat_s)
        return await perform(task, lambda: self._keeper.beat(watch))

    def _stop(self, code: str) -> None:
        if not self._over and self._working is not None:
            self._lost.append(code)
            self._working.cancel()
