"""Ending tasks and processes that were begun beside others, and what is done to its end although
its own is."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

_log = logging.getLogger(__name__)
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


async def finish(work: Coroutine[Any, Any, _T]) -> _T:
    """What ``work`` gives, such as cleaning up. Whoever is cancelled meanwhile, once or more often,
    hears of it when the work has ended; that the work failed then stands in the log."""
    task = asyncio.create_task(work)
    stopped: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            stopped = error
    if stopped is not None:
        if not task.cancelled() and (failure := task.exception()) is not None:
            _log.warning("what was to be done before the end failed: %r", failure)
        raise stopped
    return task.result()


def end_with_starter() -> None:
    """Let this process end, at once and without a word, when the one that started it, by
    ``multiprocessing``, is gone: of itself it would go on, or wait for more work for ever."""
    starter = multiprocessing.parent_process()
    if starter is None:
        return

    def await_end() -> None:
        starter.join()
        os._exit(1)

    threading.Thread(target=await_end, name="starter", daemon=True).start()
