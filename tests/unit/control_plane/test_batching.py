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
from redis.exceptions import ConnectionError, TimeoutError

from control_plane.batching import BatchedScripts
from control_plane.script import Script

SCRIPT = Script("none", "return 1")


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

    def call(self, times: int = 1, size: int = 0) -> asyncio.Task[Any]:
        async def calling() -> Any:
            reply = None
            for _ in range(times):
                reply = await self.run(SCRIPT, (), ("x" * size,))
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


async def test_a_batch_of_large_calls_is_no_larger_than_a_slow_connection_carries():
    scripts = Held()
    calls = [scripts.call(size=400_000) for _ in range(6)] + [scripts.call(size=5_000_000)]
    for number in range(7):
        await turns()
        if number < len(scripts.on_the_way):
            scripts.on_the_way[number].set_result(None)
    await asyncio.wait_for(asyncio.gather(*calls), 5)
    assert scripts.sizes == [2, 2, 2, 1]


@pytest.mark.parametrize("strange", ["half a pair \ud800", None, object()])
async def test_what_cannot_be_sent_is_the_error_of_its_caller_alone(strange: Any):
    async with scripts_of(Server()) as scripts:
        replies = await asyncio.gather(
            *(scripts.run(SCRIPT, (), (one,)) for one in ("a", strange, "b")),
            return_exceptions=True,
        )
    assert [replies[0], replies[2]] == [b"OK", b"OK"]
    assert isinstance(replies[1], Exception)


async def test_who_waits_hears_it_when_all_tasks_are_cancelled_and_others_are_served():
    server = Server(pause_s=0.2)
    async with scripts_of(server) as scripts:
        calls = [asyncio.create_task(scripts.run(SCRIPT, (), ())) for _ in range(5)]
        await asyncio.sleep(0.1)
        for flight in tuple(scripts._flights):
            flight.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5)
        assert all(one == b"OK" or isinstance(one, ConnectionError) for one in ended)
        assert any(isinstance(one, ConnectionError) for one in ended)
        assert await asyncio.wait_for(scripts.run(SCRIPT, (), ()), 5) == b"OK"


async def test_closing_ends_what_is_under_way():
    server = Server(pause_s=None)
    async with scripts_of(server) as scripts:
        call = asyncio.create_task(scripts.run(SCRIPT, (), ()))
        while not server.connections:
            await asyncio.sleep(0.01)
        await scripts.close()
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(call, 5)
        assert not scripts._flights


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


async def test_a_server_that_is_silent_is_taken_for_dead():
    async with scripts_of(Server(pause_s=None)) as scripts:
        with pytest.raises(TimeoutError):
            await scripts.run(SCRIPT, (), ())


async def test_a_server_that_answers_slowly_is_waited_for_longer_than_it_may_be_silent():
    server = Server(pause_s=0.4)
    async with scripts_of(server) as scripts:
        # The first two leave at once, the others together: 1.6 s of answers.
        replies = await asyncio.gather(*(scripts.run(SCRIPT, (), ()) for _ in range(6)))
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
            await scripts.run(SCRIPT, (), ())
        before = server.connections
        await between(server, scripts)
        await scripts.run(SCRIPT, (), ())
    assert (before, server.connections) == (1, 2)
