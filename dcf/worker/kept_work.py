"""Work under a lease that is being kept: it is cancelled as soon as the authority is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dcf.worker.keeper import LeaseKeeper
from dcf.worker.performer import Beat
from dcf.workflow import Outcome, Task


class LeaseLost(Exception):
    """The authority over a state was lost while its work went on."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


async def keep_working(
    keeper: LeaseKeeper, task: Task, perform: Callable[[Task, Beat], Awaitable[Outcome]]
) -> Outcome:
    """The outcome of ``task``. Raises LeaseLost; the work was cancelled then."""
    working = asyncio.current_task()
    loop = asyncio.get_running_loop()
    lost: list[str] = []
    over = False

    def stop(code: str) -> None:
        if not over and working is not None:
            lost.append(code)
            working.cancel()

    watch = keeper.watch(
        task.lease,
        # The keeper may run in another thread.
        lambda code: loop.call_soon_threadsafe(stop, code),
        limit_s=task.timeout_s,
        heartbeat_s=task.heartbeat_s,
    )
    try:
        return await perform(task, lambda: keeper.beat(watch))
    except asyncio.CancelledError:
        if lost and working is not None and working.uncancel() == 0:
            raise LeaseLost(lost[0]) from None
        raise
    finally:
        over = True
        keeper.unwatch(watch)
