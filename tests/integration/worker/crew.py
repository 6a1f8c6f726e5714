"""Workers on a real Redis, in this process, wired as a worker process is."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from control_plane import HintQueue, RedisBackend, Store
from dcf.worker import (
    AgentPerformer,
    Handler,
    KeeperThread,
    LeaseKeeper,
    Performer,
    Worker,
    WorkerConfig,
)
from dcf.worker.task_memory import HandlerNotes
from dcf.workflow import Choreographer, Result, Task, wait

_LONGEST_RUN_S = 20.0


class Crew:
    """A store, and workers that leave when the block ends."""

    def __init__(self, url: str, stack: AsyncExitStack, **options: Any) -> None:
        self.url = url
        self._options = options
        self._stack = stack
        self.store = self.open_store()
        self._work: dict[Worker, asyncio.Task[None]] = {}

    def open_store(self) -> Store:
        """A store with connections of its own."""
        backend = RedisBackend.from_url(self.url)
        self._stack.push_async_callback(backend.close)
        return Store(backend, **self._options)

    def worker(
        self,
        handlers: Mapping[str, Handler] | None = None,
        *,
        name: str = "w1",
        agents: AgentPerformer | None = None,
        on_sealed: Callable[[str], object] | None = None,
        frozen: bool = False,
        notes_of: Callable[[Task], HandlerNotes] | None = None,
        **config: Any,
    ) -> Worker:
        """A worker at work, its keeper in a thread. One that is ``frozen`` keeps no lease, and
        does not hear that it lost one: as a process that is stopped in the middle of its work."""
        store = self.open_store()
        if frozen:
            keeper = LeaseKeeper(store, now=time.monotonic)
        else:
            thread = KeeperThread(lambda: Store(RedisBackend.from_url(self.url)))
            keeper = self._stack.enter_context(thread).keeper
        worker = Worker(
            name,
            store,
            HintQueue(self.open_store().backend, pool="default", consumer=name),
            keeper,
            Choreographer(store, rng=random.Random(1)),
            Performer(handlers, agents, notes_of=notes_of),
            now=time.monotonic,
            config=WorkerConfig(**config),
            on_sealed=on_sealed,
        )
        self._work[worker] = asyncio.create_task(worker.run())
        self._stack.push_async_callback(self._end, worker)
        return worker

    async def kill(self, worker: Worker) -> None:
        """``worker`` dies: nothing is given back."""
        task = self._work[worker]
        task.cancel()
        await asyncio.wait([task])

    async def end(self, run: str, longest_s: float = _LONGEST_RUN_S) -> Result:
        """The result, once the run is over."""
        async with asyncio.timeout(longest_s):
            return await wait(self.store, run, poll_s=0.01)

    async def _end(self, worker: Worker) -> None:
        if not self._work[worker].done():
            worker.drain()
            await asyncio.wait([self._work[worker]])


@asynccontextmanager
async def crew_on(url: str, **options: Any) -> AsyncIterator[Crew]:
    """A crew without workers yet; ``options`` are those of its stores."""
    async with AsyncExitStack() as stack:
        yield Crew(url, stack, **options)
