"""A graph server that was killed starts again, whoever connects meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from control_plane.embedded import Embedded, ServerProcess
from control_plane.embedded.record import Record

# Takes some tenths of a second to be read again: the server sees to its clients before it writes.
_LONG = "UNWIND range(1, 2500000) AS x WITH x % 20000 AS y, max(x) AS x CREATE (:A {x: x})"


@pytest.fixture
async def killed(short_dir: Path) -> AsyncIterator[ServerProcess]:
    """A server whose file has a transaction, as earlier versions wrote them; killed."""
    graph = Embedded(short_dir).graph
    async with Redis.from_url((await graph.start()).url, protocol=2) as client:
        async with client.pipeline(transaction=True) as pipeline:
            for text in (_LONG, "CREATE (:B)"):
                pipeline.execute_command("GRAPH.QUERY", "dcf", text)
            await pipeline.execute()
        await client.execute_command("WAITAOF", 1, 0, 0)
    await kill(graph)
    yield graph
    await graph.stop()


async def kill(graph: ServerProcess) -> None:
    pid = (await graph.status()).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    while (await graph.status()).running:
        await asyncio.sleep(0.01)


@asynccontextmanager
async def impatient_clients(url: str) -> AsyncIterator[None]:
    """Clients that try to be there first."""

    async def knock() -> None:
        while True:
            client = Redis.from_url(url, protocol=2)
            try:
                await client.execute_command("GRAPH.LIST")
            except (RedisError, OSError):
                await asyncio.sleep(0.002)
            finally:
                await client.aclose()

    knocking = [asyncio.create_task(knock()) for _ in range(3)]
    try:
        yield
    finally:
        for task in knocking:
            task.cancel()
        await asyncio.wait(knocking)


async def test_it_starts_again_while_clients_keep_connecting(
    killed: ServerProcess, short_dir: Path
) -> None:
    async with impatient_clients(f"unix://{short_dir}/graph/redis.sock?db=0"):
        for _ in range(2):
            # Two at once, as commands and workers do.
            address, other = await asyncio.gather(killed.start(), Embedded(short_dir).graph.start())
            assert address == other
            async with Redis.from_url(address.url, protocol=2) as client:
                read = "MATCH (a:A) RETURN max(a.x)"
                found = await client.execute_command("GRAPH.RO_QUERY", "dcf", read)
            assert found[1] == [[2_500_000]]
            await kill(killed)


async def test_while_it_loads_it_is_said_to_load_and_may_be_stopped(
    killed: ServerProcess, short_dir: Path
) -> None:
    starting = asyncio.create_task(killed.start())
    async with asyncio.timeout(30):
        while not (status := await killed.status()).running:
            await asyncio.sleep(0.005)
    assert (status.loading, status.responding) == (True, False)
    hidden = Record.read(short_dir / "graph" / "server.json")
    assert hidden is not None and hidden.hidden is not None
    assert not (short_dir / "graph" / "redis.sock").exists()
    starting.cancel()
    await asyncio.wait([starting])
    # Whoever started it is gone; the next one waits for it, and lets it out.
    assert (await killed.start()).url == hidden.url
    assert not Path(hidden.hidden).exists()
