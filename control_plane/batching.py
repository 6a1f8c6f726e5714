"""Scripts called at the same time travel together: one write, one read for all of them.

What a call costs in Python is mostly the trip through a connection; callers that are in flight
together share it. Order between them was never promised, and each script stays atomic by itself.
"""

from __future__ import annotations

import asyncio
import builtins
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError, NoScriptError, ResponseError, TimeoutError

from control_plane.script import Script

# While one batch is with the server the next one is packed.
_BATCHES_IN_FLIGHT = 2
_LARGEST_BATCH = 64
# A slow connection has to carry a batch within the time that a server may be silent.
_MOST_BYTES = 1024 * 1024


@dataclass(slots=True, eq=False)
class _Call:
    """A script to be run; ``packed`` is the command as it is sent."""

    script: Script
    keys: Sequence[str]
    args: Sequence[str | int]
    packed: bytes
    reply: asyncio.Future[Any]


class BatchedScripts:
    """Calls scripts over connections of its own, made as ``client`` makes them. A server that is
    silent for ``silent_s`` seconds is taken for dead."""

    def __init__(self, client: Redis, *, silent_s: float) -> None:
        self._client = client
        self._silent_s = silent_s
        self._waiting: deque[_Call] = deque()
        self._flights: set[asyncio.Task[None]] = set()
        self._lines: list[AbstractConnection] = []
        self._idle: list[AbstractConnection] = []
        self._stale: set[AbstractConnection] = set()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """The script's reply. Raises what redis-py raises."""
        # Here, so that what cannot be sent is the error of this call alone.
        packed = _pack("EVALSHA", script.sha1, keys, args)
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Call(script, keys, args, packed, reply))
        self._take_off()
        return await reply

    def reconnect(self) -> None:
        """Connect anew before the next batches."""
        self._stale.update(self._lines)

    async def close(self) -> None:
        """Close the connections; who waits for a reply hears that there is none."""
        flights = tuple(self._flights)
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        for line in self._lines:
            await line.disconnect()

    def _take_off(self) -> None:
        if self._waiting and len(self._flights) < _BATCHES_IN_FLIGHT:
            self._flights.add(asyncio.create_task(self._fly()))

    async def _fly(self) -> None:
        line = self._idle.pop() if self._idle else self._connection()
        try:
            await self._empty(line)
        finally:
            self._idle.append(line)
            # In the same turn of the loop in which nothing was waiting any more: whoever comes
            # later has to see that this flight has landed, and start another.
            self._flights.discard(cast("asyncio.Task[None]", asyncio.current_task()))
            # It was cancelled, by what cancels all tasks: others still wait.
            self._take_off()

    def _connection(self) -> AbstractConnection:
        """One of no pool, which would look at it before each batch; a batch has one limit of time,
        where redis-py sets one for each command that is sent and each reply."""
        pool = self._client.connection_pool
        # It is the limit of a connection that is being made, too, where that has none of its own.
        limits = {"socket_connect_timeout": self._silent_s} | pool.connection_kwargs
        line: AbstractConnection = pool.connection_class(**limits | {"socket_timeout": None})
        self._lines.append(line)
        return line

    async def _empty(self, line: AbstractConnection) -> None:
        """Send what waits, until nothing does."""
        while self._waiting:
            # A caller that gave up while it waited asked for nothing to be done.
            batch = [call for call in self._taken() if not call.reply.done()]
            if not batch:
                continue
            replies: Iterable[Any]
            try:
                replies = await self._send(line, batch)
            except Exception as error:  # noqa: BLE001 - each caller raises it, none is left waiting
                replies = [error] * len(batch)
            except asyncio.CancelledError:
                _answer(batch, [ConnectionError("the connection was given up")] * len(batch))
                raise
            _answer(batch, replies)

    def _taken(self) -> list[_Call]:
        """The next batch: at least one call, and no more bytes than fit."""
        taken: list[_Call] = []
        size = 0
        while self._waiting and len(taken) < _LARGEST_BATCH:
            size += len(self._waiting[0].packed)
            if taken and size > _MOST_BYTES:
                break
            taken.append(self._waiting.popleft())
        return taken

    async def _send(self, line: AbstractConnection, batch: list[_Call]) -> list[Any]:
        if line in self._stale:
            self._stale.discard(line)
            await line.disconnect()
        replies = await self._exchange(line, [call.packed for call in batch])
        for at, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):
                # The script cache does not survive a restart; EVAL fills it again.
                call = batch[at]
                again = _pack("EVAL", call.script.source, call.keys, call.args)
                replies[at] = (await self._exchange(line, [again]))[0]
        return replies

    async def _exchange(self, line: Any, commands: list[bytes]) -> list[Any]:
        """The replies to ``commands``, those that are errors too. A pipeline of redis-py does the
        same in twice the time: it packs in Python and passes each reply through five calls."""
        packed = b"".join(commands)

        async def attempt() -> list[Any]:
            try:
                return await self._answered(line, packed, len(commands))
            except builtins.TimeoutError:
                raise TimeoutError(f"no reply within {self._silent_s:g} s") from None

        async def failed(error: Exception) -> None:
            await line.disconnect(error=error)

        try:
            replies: list[Any] = await line.retry.call_with_retry(attempt, failed)
        except BaseException:
            # Replies that nobody read must not be those of the next batch.
            await line.disconnect(nowait=True)
            raise
        return replies

    async def _answered(self, line: Any, packed: bytes, count: int) -> list[Any]:
        """``count`` replies to what is sent."""
        now = asyncio.get_running_loop().time
        replies: list[Any] = []
        async with asyncio.timeout(self._silent_s) as limit:
            begun = now()
            await line.send_packed_command(packed)
            while len(replies) < count:
                replies.append(await _reply(line))
                if now() - begun > self._silent_s / 10:
                    # It is slow, not silent.
                    begun = now()
                    limit.reschedule(begun + self._silent_s)
        return replies


def _pack(name: str, script: str, keys: Sequence[str], args: Sequence[str | int]) -> bytes:
    command = (name, script, len(keys), *keys, *args)
    # hiredis declares a tuple of one item.
    packed: bytes = hiredis.pack_command(command)  # type: ignore[arg-type]
    return packed


async def _reply(connection: Any) -> Any:
    """The next reply; an error is one of a single command, the others have theirs. So is a text
    that is none."""
    try:
        return await connection.read_response(disconnect_on_error=False)
    except (ResponseError, UnicodeDecodeError) as error:
        return error


def _answer(batch: Sequence[_Call], replies: Iterable[Any]) -> None:
    for call, reply in zip(batch, replies, strict=True):
        if call.reply.done():
            continue  # the caller was cancelled meanwhile
        if isinstance(reply, Exception):
            call.reply.set_exception(reply)
        else:
            call.reply.set_result(reply)
