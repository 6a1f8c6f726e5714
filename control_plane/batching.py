"""Scripts called at the same time travel together: one write, one read for all of them.

What a call costs in Python is mostly the trip through a connection; callers that are in flight
together share it. Order between them was never promised, and each script stays atomic by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, ResponseError

from control_plane.script import Script

# While one batch is with the server the next one is packed.
_BATCHES_IN_FLIGHT = 2
_LARGEST_BATCH = 64

_Command = tuple[str | int, ...]
_Call = tuple[Script, Sequence[str], Sequence[str | int], "asyncio.Future[Any]"]


class BatchedScripts:
    """Calls scripts over connections of ``client``."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._waiting: deque[_Call] = deque()
        self._flights: set[asyncio.Task[None]] = set()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """The script's reply. Raises what redis-py raises."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((script, keys, args, future))
        if len(self._flights) < _BATCHES_IN_FLIGHT:
            self._flights.add(asyncio.create_task(self._fly()))
        return await future

    async def _fly(self) -> None:
        try:
            await self._empty()
        finally:
            # In the same turn of the loop in which nothing was waiting any more: whoever comes
            # later has to see that this flight has landed, and start another.
            self._flights.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _empty(self) -> None:
        """Send what waits, until nothing does."""
        while self._waiting:
            size = min(len(self._waiting), _LARGEST_BATCH)
            taken = [self._waiting.popleft() for _ in range(size)]
            # A caller that gave up while it waited asked for nothing to be done.
            batch = [call for call in taken if not call[-1].done()]
            if not batch:
                continue
            try:
                replies = await self._send(batch)
            except Exception as error:  # noqa: BLE001 - each caller raises it, none is left waiting
                replies = [error] * len(batch)
            for (*_, future), reply in zip(batch, replies, strict=True):
                if future.done():
                    continue  # the caller was cancelled meanwhile
                if isinstance(reply, Exception):
                    future.set_exception(reply)
                else:
                    future.set_result(reply)

    async def _send(self, batch: list[_Call]) -> list[Any]:
        replies = await self._exchange(
            [("EVALSHA", script.sha1, len(keys), *keys, *args) for script, keys, args, _ in batch]
        )
        for at, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):
                # The script cache does not survive a restart; EVAL fills it again.
                script, keys, args, _ = batch[at]
                again = ("EVAL", script.source, len(keys), *keys, *args)
                replies[at] = (await self._exchange([again]))[0]
        return replies

    async def _exchange(self, commands: list[_Command]) -> list[Any]:
        """The replies to ``commands``, those that are errors too, over one connection. A pipeline
        of redis-py does the same in twice the time: it packs in Python and passes each reply
        through five calls."""
        # hiredis declares a tuple of one item.
        packed = b"".join(hiredis.pack_command(command) for command in commands)  # type: ignore[arg-type]
        pool: Any = self._client.connection_pool
        connection = await pool.get_connection()

        async def attempt() -> list[Any]:
            await connection.send_packed_command(packed)
            return [await _reply(connection) for _ in commands]

        async def failed(error: Exception) -> None:
            await connection.disconnect(error=error)

        try:
            replies: list[Any] = await connection.retry.call_with_retry(attempt, failed)
            return replies
        finally:
            await pool.release(connection)


async def _reply(connection: Any) -> Any:
    """The next reply; an error is one of a single command, the others have theirs."""
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
