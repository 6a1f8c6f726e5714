"""Scripts that travel together: none is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import TimeoutError

from control_plane.batching import BatchedScripts
from control_plane.script import Script

SCRIPT = cast(Script, None)


class Held(BatchedScripts):
    """Batches that are on the way until they are let land."""

    def __init__(self) -> None:
        super().__init__(cast("Redis", None), silent_s=1)
        self.on_the_way: list[asyncio.Future[None]] = []
        self.sizes: list[int] = []

    def _connection(self) -> Any:
        return None

    async def _send(self, line: Any, batch: list[Any]) -> list[Any]:
        self.sizes.append(len(batch))
        landing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.on_the_way.append(landing)
        await landing
        return ["done"] * len(batch)

    def call(self, times: int = 1) -> asyncio.Task[Any]:
        async def calling() -> Any:
            reply = None
            for _ in range(times):
                reply = await self.run(SCRIPT, (), ())
            return reply

        return asyncio.create_task(calling())


async def turns(count: int = 10) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_call_made_while_two_batches_land_in_one_turn_is_sent():
    scripts = Held()
    first = scripts.call(times=2)
    await turns()
    second = scripts.call()
    await turns()
    assert len(scripts.on_the_way) == 2
    for landing in scripts.on_the_way:
        landing.set_result(None)
    await turns()
    assert len(scripts.on_the_way) == 3
    scripts.on_the_way[2].set_result(None)
    assert await asyncio.wait_for(asyncio.gather(first, second), 5) == ["done", "done"]


async def test_what_its_caller_gave_up_while_it_waited_is_not_sent():
    scripts = Held()
    under_way = [scripts.call()]
    await turns()
    under_way.append(scripts.call())
    await turns()
    given_up, kept = scripts.call(), scripts.call()
    await turns()
    given_up.cancel()
    await turns()
    for landing in scripts.on_the_way[:2]:
        landing.set_result(None)
    await turns()
    assert scripts.sizes == [1, 1, 1]
    scripts.on_the_way[2].set_result(None)
    assert await asyncio.wait_for(kept, 5) == "done"


class Server:
    """A server that answers each command (as Redis does, with ``+OK``) after ``pause_s`` seconds;
    None for never. It counts its connections."""

    def __init__(self, pause_s: float | None = 0) -> None:
        self.pause_s = pause_s
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        while line := await reader.readline():
            if not line.startswith(b"*"):
                continue
            for _ in range(2 * int(line[1:])):
                await reader.readline()
            if self.pause_s is None:
                continue
            await asyncio.sleep(self.pause_s)
            writer.write(b"+OK\r\n")
        writer.close()


@asynccontextmanager
async def scripts_of(server: Server, retries: int = 0) -> AsyncIterator[BatchedScripts]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1")
    host, port = listening.sockets[0].getsockname()
    # What it does when it connects is not asked of this server.
    client = Redis(
        host=host, port=port, protocol=2, retry=Retry(NoBackoff(), retries), driver_info=None
    )
    scripts = BatchedScripts(client, silent_s=1)
    try:
        yield scripts
    finally:
        await scripts.close()
        await client.aclose()
        listening.close()


CALL = Script("none", "return 1")


async def test_a_server_that_is_silent_is_taken_for_dead():
    async with scripts_of(Server(pause_s=None)) as scripts:
        with pytest.raises(TimeoutError):
            await scripts.run(CALL, (), ())


async def test_a_server_that_answers_slowly_is_waited_for_longer_than_it_may_be_silent():
    server = Server(pause_s=0.4)
    async with scripts_of(server) as scripts:
        # The first two leave at once, the others together: 1.6 s of answers.
        replies = await asyncio.gather(*(scripts.run(CALL, (), ()) for _ in range(6)))
    assert replies == [b"OK"] * 6


async def cut(server: Server, _scripts: BatchedScripts) -> None:
    server.writers[0].transport.abort()


async def leave(_server: Server, scripts: BatchedScripts) -> None:
    scripts.reconnect()


@pytest.mark.parametrize("between", [cut, leave])
async def test_a_connection_serves_until_it_is_cut_or_left(
    between: Callable[[Server, BatchedScripts], Awaitable[None]],
):
    server = Server()
    async with scripts_of(server, retries=1) as scripts:
        for _ in range(3):
            await scripts.run(CALL, (), ())
        before = server.connections
        await between(server, scripts)
        await scripts.run(CALL, (), ())
    assert (before, server.connections) == (1, 2)
