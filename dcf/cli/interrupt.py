"""Ctrl-C, which reaches a command as the cancellation of its main task."""

from __future__ import annotations

import asyncio


def heed_interrupt() -> None:
    """Raise CancelledError when this task was told to stop, though nothing said so until now.

    redis-py connects and sends through ``asyncio.wait_for``, which in Python 3.11 loses a
    cancellation that comes just when the call is done. Loops that may run for hours ask here.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
