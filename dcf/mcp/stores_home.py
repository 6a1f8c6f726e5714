"""Where one server keeps what is logged, and the documents that it finds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from dcf.mcp.envelope import Refused
from dcf.memory import Actor, Memory, Source, random_id
from dcf.retrieval import BackendSetting, Stores, lifetimes_of


class StoresHome:
    """Opens what MEM_BACKEND, MEM_PATH and DATABASE_URL in ``env`` name, once; DCF_RETRIEVAL_TTL
    says how long items are found. ``source`` is the
    memory of the server, ``folder`` that of the backend file where nobody names one."""

    def __init__(self, env: Mapping[str, str], source: Source, folder: Path) -> None:
        self._env = env
        self._source = source
        self._folder = folder
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._memory: Memory | None = None
        self._stores: Stores | None = None

    async def of(self, own: Memory, by: Actor) -> tuple[Memory, Stores]:
        """The memory with the observations, and what is kept ``by`` somebody; ``own`` is the
        server's memory. Raises Refused, a StoreProblem, a MemoryProblem."""
        setting, problems = BackendSetting.from_env(self._env)
        lifetimes, endless = lifetimes_of(self._env)
        problems += endless
        if problems:
            said = "; ".join(f"{one.file}: {one.message}" for one in problems)
            raise Refused(problems[0].code, said, hint=problems[0].hint)
        async with self._opening:
            if setting.backend == "sqlite":
                memory = own if setting.path is None else await self._named(setting.path)
                return memory, Stores.of_memory(memory, by, lifetimes)
            if self._stores is None:
                embedder = await own.search.embedder()
                opened = Stores.open(setting, self._folder, _now_ms, random_id, lifetimes, embedder)
                self._stores = await self._stack.enter_async_context(opened)
            return own, self._stores

    async def close(self) -> None:
        """Close what is open."""
        self._memory = self._stores = None
        await self._stack.aclose()

    async def _named(self, path: Path) -> Memory:
        if self._memory is None:
            opened = Memory.open(self._source_at(path), clock=_now_ms, new_id=random_id)
            self._memory = await self._stack.enter_async_context(opened)
        return self._memory

    def _source_at(self, path: Path) -> Source:
        return replace(self._source, path=path.expanduser().absolute())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
