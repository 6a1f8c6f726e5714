"""Exit codes of every command."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
ENVIRONMENT: Final = 3
INTERRUPTED: Final = 130

MEANING: Final = {
    OK: "It worked.",
    FAILED: "A run or a check failed or is not over, or the status does not allow what was asked.",
    BAD_INPUT: "The request cannot be right: usage, files, input, settings, an unknown run.",
    ENVIRONMENT: "Something around DCF is missing: Redis, a tool server, a port, disk space.",
    INTERRUPTED: "Interrupted with Ctrl-C.",
}
