"""Exit codes of every command."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
ENVIRONMENT: Final = 3
INTERRUPTED: Final = 130

MEANING: Final = {
    OK: "it worked",
    FAILED: "the run failed, or what was asked is not so",
    BAD_INPUT: "bad input or usage; every problem is listed",
    ENVIRONMENT: "something around DCF is missing: Redis, a tool server, a port, disk space",
    INTERRUPTED: "interrupted with Ctrl-C",
}
