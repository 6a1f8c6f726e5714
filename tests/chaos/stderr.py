"""Standard error of a campaign, which may go away with its terminal."""

from __future__ import annotations

import os
import signal
from typing import TextIO


class Stderr:
    """Writes to ``stream``, and never fails: where that is gone, the campaign is asked to end, as
    by the signal. Under `make` it may get none: make does, and waits for it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> int:
        """``text``, unless nobody is there to read it."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            if not self._gone:
                os.kill(os.getpid(), signal.SIGHUP)
            self._gone = True
        return len(text)

    def flush(self) -> None:
        """Nothing: each write does."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Of the stream: rich asks for the size of the terminal."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:
        """Of the stream."""
        return self._stream.encoding
