"""The way to Redis, which can be cut: a forwarder of connections between two Unix sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_CHUNK = 1 << 16


class Network:
    """Forwards from the socket ``here`` to the one that ``there`` names at the moment."""

    def __init__(self, here: Path, there: Callable[[], Path]) -> None:
        self._here = here
        self._there = there
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._forward, str(self._here))

    async def close(self) -> None:
        self.drop()
        if self._server is not None:
            self._server.close()

    def drop(self) -> bool:
        """End all connections, wherever a request or an answer is on its way; whether there were
        any."""
        writers = tuple(self._writers)
        for writer in writers:
            writer.transport.abort()
        return bool(writers)

    async def stall(self, seconds: float) -> bool:
        """Nothing arrives for a while, and nothing is refused either."""
        self._flowing.clear()
        try:
            await asyncio.sleep(seconds)
        finally:
            self._flowing.set()
        return True

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            other_reader, other = await asyncio.open_unix_connection(str(self._there()))
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, other}
        try:
            await asyncio.gather(self._pipe(reader, other), self._pipe(other_reader, writer))
        finally:
            self._writers -= {writer, other}

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while chunk := await reader.read(_CHUNK):
                await self._flowing.wait()
                writer.write(chunk)
                await writer.drain()
        with suppress(OSError):
            writer.close()
