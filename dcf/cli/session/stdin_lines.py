"""Lines of a stream that somebody may stop waiting for."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from typing import TextIO

_CHUNK = 65_536


async def lines_of(source: TextIO) -> AsyncIterator[str]:
    """The lines of ``source`` as they come.

    They are read by a thread that nobody waits for: a read from a pipe cannot be called off, and
    Ctrl-C must not wait for the next line.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def tell(line: bytes | None) -> None:
        # The loop may be closed by the time that a line comes.
        if not loop.is_closed():
            loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        rest = b""
        while chunk := os.read(source.fileno(), _CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                tell(line)
        if rest:
            tell(rest)
        tell(None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line.decode("utf-8", errors="replace")
