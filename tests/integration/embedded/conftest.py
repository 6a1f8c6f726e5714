"""Servers to test with: embedded ones that end with the test, and a scripted impostor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from control_plane.embedded import Embedded

FakeRedis = Callable[[Mapping[str, object]], Awaitable[str]]


@pytest.fixture
async def embedded(short_dir: Path) -> AsyncIterator[Embedded]:
    """An embedded Redis that is not started, below a short path; ended after the test."""
    server = Embedded(short_dir, patience_s=20)
    yield server
    await server.stop()
    await server.graph.stop()


@pytest.fixture
async def fake_redis(short_dir: Path) -> AsyncIterator[FakeRedis]:
    """Starts a server whose INFO says what the test wants, for what no wheel provides; its URL."""
    servers: list[asyncio.Server] = []

    async def start(info: Mapping[str, object]) -> str:
        path = short_dir / "fake.sock"
        text = "".join(f"{name}:{value}\r\n" for name, value in info.items()).encode()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while head := await reader.readline():
                words = [await _bulk(reader) for _ in range(int(head[1:]))]
                asked = words[0].upper() == b"INFO"
                writer.write(b"$%d\r\n%s\r\n" % (len(text), text) if asked else b"+OK\r\n")
            writer.close()

        servers.append(await asyncio.start_unix_server(serve, path))
        return f"unix://{path}?db=0"

    yield start
    for server in servers:
        server.close()


async def _bulk(reader: asyncio.StreamReader) -> bytes:
    """One RESP bulk string."""
    size = int((await reader.readline())[1:])
    return (await reader.readexactly(size + 2))[:-2]
