"""A limit to the processor time that a parser may take: some take the square of a size."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN = 0.5
"""Seconds after which it is told once more, where a parser went on."""


class TooSlow(Exception):
    """The time is up."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TooSlow after so many seconds of this process. Signals come to the main thread alone:
    elsewhere nothing is limited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
