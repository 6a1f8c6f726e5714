"""A graph server that was killed starts again, whoever connects meanwhile."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from control_plane.embedded import Address, Embedded, ServerProcess
from control_plane.embedded.errors import StartFailed
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

    over = asyncio.Event()

    async def knock() -> None:
        # Not cancelled: a client that is just connecting may make another error of that.
        while not over.is_set():
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
        over.set()
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


async def loading(killed: ServerProcess, short_dir: Path) -> asyncio.Task[Address]:
    """A start of ``killed`` that waits for the server to load."""
    starting = asyncio.create_task(killed.start())
    async with asyncio.timeout(30):
        # Its hidden socket: from then on it heeds signals.
        while not list((short_dir / "graph").glob("new-*")):
            await asyncio.sleep(0.005)
    status = await killed.status()
    assert (status.loading, status.responding) == (True, False)
    assert not (short_dir / "graph" / "redis.sock").exists()
    return starting


async def test_while_it_loads_it_is_said_to_load_and_whoever_comes_next_lets_it_out(
    killed: ServerProcess, short_dir: Path
) -> None:
    starting = await loading(killed, short_dir)
    hidden = Record.read(short_dir / "graph" / "server.json")
    assert hidden is not None and hidden.hidden is not None
    starting.cancel()
    await asyncio.wait([starting])
    # Whoever started it is gone; the next one waits for it, and lets it out.
    assert (await killed.start()).url == hidden.url
    assert not Path(hidden.hidden).exists()
    # From then on its log is nobody's business.
    (short_dir / "graph" / "server.log").write_text("")
    async with asyncio.timeout(10):
        assert (await Embedded(short_dir).graph.start()).url == hidden.url
    assert (await killed.status()).responding


async def test_while_it_loads_it_may_be_stopped_and_nobody_connects_for_that(
    killed: ServerProcess, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = await loading(killed, short_dir)
    asked: list[str] = []
    stopping = Embedded(short_dir).graph
    monkeypatch.setattr(stopping._presence, "vitals", asked.append)
    assert await stopping.stop()
    assert asked == []
    with pytest.raises(StartFailed):
        await starting
    log = (short_dir / "graph" / "server.log").read_text()
    # A signal, and no SHUTDOWN.
    assert re.search("Received (SIGTERM|shutdown signal during loading)", log)
    assert not [path for path in (short_dir / "graph").iterdir() if path.is_socket()]
    async with Redis.from_url((await killed.start()).url, protocol=2) as client:
        read = "MATCH (a:A) RETURN max(a.x)"
        found = await client.execute_command("GRAPH.RO_QUERY", "dcf", read)
    assert found[1] == [[2_500_000]]
