"""Scripts called at the same time travel together: one write, one read for all of them.

What a call costs in Python is mostly the trip through a connection; callers that are in flight
together share it. Order between them was never promised, and each script stays atomic by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from control_plane.script import Script

# While one batch is with the server the next one is packed.
_BATCHES_IN_FLIGHT = 2
_LARGEST_BATCH = 64

_Call = tuple[Script, Sequence[str], Sequence[str | int], "asyncio.Future[Any]"]


class BatchedScripts:
    """Calls scripts over pipelines of ``client``."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._waiting: deque[_Call] = deque()
        self._flights: set[asyncio.Task[None]] = set()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """The script's reply. Raises what redis-py raises."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((script, keys, args, future))
        if len(self._flights) < _BATCHES_IN_FLIGHT:
            flight = asyncio.create_task(self._fly())
            self._flights.add(flight)
            flight.add_done_callback(self._flights.discard)
        return await future

    async def _fly(self) -> None:
        while self._waiting:
            size = min(len(self._waiting), _LARGEST_BATCH)
            batch = [self._waiting.popleft() for _ in range(size)]
            try:
                replies = await self._send(batch)
            except Exception as error:  # noqa: BLE001 - each caller raises it, none is left waiting
                replies = [error] * size
            for (*_, future), reply in zip(batch, replies, strict=True):
                if future.done():
                    continue  # the caller was cancelled meanwhile
                if isinstance(reply, Exception):
                    future.set_exception(reply)
                else:
                    future.set_result(reply)

    async def _send(self, batch: list[_Call]) -> list[Any]:
        pipeline = self._client.pipeline(transaction=False)
        for script, keys, args, _ in batch:
            pipeline.execute_command("EVALSHA", script.sha1, len(keys), *keys, *args)
        replies = await pipeline.execute(raise_on_error=False)
        for at, reply in enumerate(replies):
            if isinstance(reply, NoScriptError):
                # The script cache does not survive a restart; EVAL fills it again.
                script, keys, args, _ = batch[at]
                retry = self._client.pipeline(transaction=False)
                retry.execute_command("EVAL", script.source, len(keys), *keys, *args)
                replies[at] = (await retry.execute(raise_on_error=False))[0]
        return replies
