"""A Redis server that ends with the process that started it, however that ends.

A guard, a process of its own, waits for the end of a pipe that only the starter holds; then it
stops the server and removes its folder. So nothing is left behind by SIGTERM, SIGKILL or a crash.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from control_plane.embedded import Embedded

_PATIENCE_S = 120.0


class OwnServer:
    """``url`` is where it listens. Raises ServerUnusable when it cannot be started."""

    def __init__(self) -> None:
        home = Path(tempfile.mkdtemp(prefix="dcf-conformance-"))
        # In a session of its own, as the server is: Ctrl-C in a terminal must not end it first.
        self._guard = subprocess.Popen(
            [sys.executable, "-m", "dcf.conformance.engine_server", str(home)],
            stdin=subprocess.PIPE,
            # Whoever reads what the starter prints must not have to wait for the guard.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self.url = asyncio.run(Embedded(home).start()).url
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the server, remove its folder, and wait until that is done."""
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        self._guard.wait(_PATIENCE_S)


def guard(home: Path) -> None:
    """Wait for the end of standard input, then end the server in ``home`` and remove it."""
    sys.stdin.buffer.read()
    try:
        asyncio.run(Embedded(home).stop())
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
