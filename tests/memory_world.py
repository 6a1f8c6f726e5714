"""A clock and ids that tests of the memory can foresee, and other processes that use the file."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter


class Ticking:
    """A clock that is one millisecond later each time it is asked."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


class Numbered:
    """Ids that count: ``agent-1``, ``block-1``, ``block-2``."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def __call__(self, kind: str) -> str:
        self._made[kind] += 1
        return f"{kind}-{self._made[kind]}"


def started(
    script: str, *arguments: object, interpreter: str = sys.executable
) -> subprocess.Popen[bytes]:
    """A process that runs ``script``, with pipes. Who is not killed may come from
    ``commands.python``."""
    return subprocess.Popen(
        [interpreter, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
