"""A simulated process: it can be killed at any call, and stopped for a while without noticing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, NoReturn


class Process:
    """One incarnation of a worker or a client; ``name`` stands in the trace.

    ``skew_s`` is how far its own clock is off: that must never matter.
    """

    def __init__(self, name: str, *, skew_s: float = 0.0) -> None:
        self.name = name
        self.dead = False
        self._skew_s = skew_s
        self._tasks: list[asyncio.Task[Any]] = []
        self._stopped_until = 0.0

    def now(self) -> float:
        """This process's own monotonic clock."""
        return asyncio.get_running_loop().time() + self._skew_s

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run ``work`` in this process: it ends with it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task

    def kill(self) -> None:
        """From now on nothing it says is heard; its tasks end at the next turn of the loop."""
        self.dead = True
        for task in self._tasks:
            asyncio.get_running_loop().call_soon(task.cancel)

    async def die(self) -> NoReturn:
        """Be killed here: the caller never goes on."""
        self.kill()
        here = asyncio.current_task()
        if here is not None and here.cancelling():
            # It is being ended already, and nobody would do it again.
            raise asyncio.CancelledError
        await asyncio.Event().wait()
        raise AssertionError("a dead process went on")

    def stop(self, seconds: float) -> None:
        """Stop the world of this process: a long garbage collection, a laptop that sleeps."""
        self._stopped_until = asyncio.get_running_loop().time() + seconds

    async def awake(self) -> None:
        """Go on when the process runs; a dead one never does."""
        await self.not_stopped()
        if self.dead:
            await self.die()

    async def not_stopped(self) -> None:
        """Go on when the process is not stopped, dead or not."""
        loop = asyncio.get_running_loop()
        while loop.time() < self._stopped_until:  # noqa: ASYNC110 - it may be stopped again
            await asyncio.sleep(self._stopped_until - loop.time())

    async def sleep(self, seconds: float) -> None:
        """Sleep as a program in this process does."""
        await asyncio.sleep(seconds)
        await self.awake()

    async def join(self) -> None:
        """Wait until all its tasks are over, however they end."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
