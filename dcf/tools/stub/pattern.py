"""Regular expressions with a bound on the time that one search may take."""

from __future__ import annotations

import re
import signal
import threading
from types import FrameType

CPU_SECONDS = 0.1
"""How much processor time one search may use."""

OFF_MAIN_LIMIT = 2_000
"""How many characters are searched where the timer does not work (see ``search``)."""


class PatternTooSlow(Exception):
    """A search was stopped: the expression backtracks without end on this text."""


def search(pattern: re.Pattern[str], text: str) -> bool:
    """Whether ``pattern`` occurs in ``text``.

    Python's ``re`` has no limit of its own, holds the interpreter while it runs, and looks for
    signals now and then; so a timer of the process's own processor time interrupts it. Signals
    reach the main thread only: elsewhere (and on Windows) the text is cut off instead.
    Raises ``PatternTooSlow``.
    """
    if not hasattr(signal, "SIGVTALRM") or (
        threading.current_thread() is not threading.main_thread()
    ):
        return pattern.search(text[:OFF_MAIN_LIMIT]) is not None
    return _search_timed(pattern, text)


def _search_timed(pattern: re.Pattern[str], text: str) -> bool:
    searching = True

    def interrupt(_signum: int, _frame: FrameType | None) -> None:
        if searching:
            raise PatternTooSlow(pattern.pattern)

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        return pattern.search(text) is not None
    finally:
        searching = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
