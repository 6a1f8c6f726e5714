"""Work that goes on beside other work, and not longer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from dcf.stopping import stop

log = logging.getLogger(__name__)


@asynccontextmanager
async def meanwhile(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """``work`` is under way as long as the block lasts. It is cancelled then, and has ended, with
    what it does at its end, before what it works with is closed. What it raises is logged at once,
    and the block goes on without it."""
    task = asyncio.create_task(work)
    task.add_done_callback(_tell_of_defect)
    try:
        yield
    finally:
        await stop(task)


def _tell_of_defect(task: asyncio.Task[object]) -> None:
    """Nobody awaits it before the block ends, which may be in months."""
    if not task.cancelled() and (error := task.exception()) is not None:
        name = getattr(task.get_coro(), "__qualname__", task.get_name())
        log.error("%s broke, and does nothing more in this process", name, exc_info=error)
