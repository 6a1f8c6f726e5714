"""How long calls may take."""

from __future__ import annotations

import time
from typing import Final

HANGS_AFTER_S: Final = 0.6
"""When a caller gives up on a case that never answers."""

SLACK_S: Final = 20.0
"""How much longer than its latency any other answer may take."""


class Stopwatch:
    """Runs from when it is made. What it measures is reported and never decides an answer, so it
    reads the process's own clock."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start
