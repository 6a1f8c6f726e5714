"""A terminal with somebody in front of it, for commands that talk."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_PATIENCE_S = 60.0
_ASKS_WHERE = b"\x1b[6n"
_AT_THE_TOP = b"\x1b[1;1R"
_STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")
_ROWS, _COLUMNS = 40, 160


class Terminal:
    """Runs a command as somebody at a terminal does. ``seen`` is all text that it ever wrote, in
    the order in which it came, without what steers a terminal."""

    def __init__(self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.code: int | None = None
        self._written = b""
        self._at = 0
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            size_is_ours = {"COLUMNS": str(_COLUMNS), "LINES": str(_ROWS)}
            os.execvpe(command[0], list(command), {**env, **size_is_ours, "TERM": "xterm-256color"})
        size = struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0)
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._end)

    @property
    def seen(self) -> str:
        return _STEERING.sub("", self._written.decode(errors="replace"))

    def until(self, pattern: str) -> str:
        """Wait for text that fits ``pattern`` after what was waited for before; that text."""
        ends = time.monotonic() + _PATIENCE_S
        while time.monotonic() < ends:
            found = re.compile(pattern).search(self.seen, self._at)
            if found is not None:
                self._at = found.end()
                return found[0]
            assert self._read(), f"it ended before {pattern!r}: {self.seen[self._at :]}"
        raise AssertionError(
            f"not within {_PATIENCE_S:g} s: {pattern!r} in {self.seen[self._at :]}"
        )

    def type(self, text: str) -> None:
        """Type ``text``; ``\\r`` is the Enter key."""
        os.write(self._end, text.encode())

    def end(self) -> int:
        """Wait for the end of the command; its exit code."""
        ends = time.monotonic() + _PATIENCE_S
        while self._read():
            assert time.monotonic() < ends, f"it does not end: {self.seen[self._at :]}"
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code

    def _read(self) -> bool:
        """Take what came, and answer where the cursor is; False when nothing can come any more."""
        if not select.select([self._end], [], [], 0.1)[0]:
            return True
        try:
            came = os.read(self._end, 65_536)
        except OSError:
            return False
        self._written += came
        for _ in range(came.count(_ASKS_WHERE)):
            os.write(self._end, _AT_THE_TOP)
        return bool(came)
