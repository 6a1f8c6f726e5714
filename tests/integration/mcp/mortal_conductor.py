"""A conductor that is an agent, in processes that die when they are told to.

Run as a program, ``mortal_conductor.py REDIS FOLDER SESSION…``, it takes the same turn in each of
the sessions, each in a process of its own, one after the other, that share the memory in
``FOLDER``. The first lives, and says how many calls of Redis its turn has; of the others each dies
at another one of them. It writes {session: exit code} to stdout.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.mcp.platforms import Desk
from local_world import LocalWorld
from runtime_world import Calls, Says

from control_plane import RedisBackend
from control_plane.script import Script
from dcf.mcp import Platform, PlatformConfig
from dcf.mcp.model_conductor import ModelConductor
from dcf.memory import Memory, Source, random_id

ME = "boss"
ASKED = "count and weigh"
LINES = (
    Calls("delegate_task", {"task_description": "count"}),
    Calls("delegate_task", {"task_description": "weigh"}),
    Says("Two are at it."),
)
_CALLS = "test:calls"


class _Mortal(RedisBackend):
    """Kills its process at the call number ``last``."""

    calls = 0
    last: int | None = None

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        self._count()
        return await super().run(script, keys, args)

    async def command(self, *args: str | int) -> Any:
        self._count()
        return await super().command(*args)

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


@asynccontextmanager
async def conducting(
    redis_url: str, folder: Path, last: int | None = None
) -> AsyncIterator[tuple[ModelConductor, LocalWorld, Desk]]:
    """The conductor, with a model that says what it is told to."""
    backend = _Mortal.from_url(redis_url)
    assert isinstance(backend, _Mortal)
    backend.last = last
    source = Source(folder / "memory.db")
    places = {
        name: folder / name
        for name in ("generated", "skills_src", "workspace", "workflows", "runs")
    }
    platform = Platform(backend, PlatformConfig(home=folder, memory=source, **places))
    opened = Memory.open(source, clock=lambda: time.time_ns() // 1_000_000, new_id=random_id)
    async with opened as memory:
        # A turn that its process left behind is over in half a second.
        world = LocalWorld(memory, lease_s=0.5)
        yield ModelConductor(platform, ME, runtime=world.runtime), world, Desk(platform)
        await world.runtime.aclose()
    await platform.close()
    await backend.close()


async def _turn(redis_url: str, folder: Path, session: str, last: int | None) -> None:
    async with conducting(redis_url, folder, last) as (conductor, world, desk):
        world.script(*LINES)
        await conductor.turn(session, ASKED, request_id="r1")
        backend = desk.platform.backend
        assert isinstance(backend, _Mortal)
        await backend.command("SET", _CALLS, backend.calls)


def _fork(redis_url: str, folder: Path, session: str, last: int | None) -> int:
    pid = os.fork()
    if not pid:
        code = 1
        try:
            asyncio.run(_turn(redis_url, folder, session, last))
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _calls(redis_url: str) -> int:
    async def read() -> int:
        backend = RedisBackend.from_url(redis_url)
        found = int(await backend.command("GET", _CALLS))
        await backend.close()
        return found

    return asyncio.run(read())


def main(redis_url: str, folder: str, first: str, *rest: str) -> None:
    codes = {first: _fork(redis_url, Path(folder), first, None)}
    calls = _calls(redis_url)
    for number, session in enumerate(rest, 1):
        last = number * calls // (len(rest) + 1)
        codes[session] = _fork(redis_url, Path(folder), session, last)
    print(json.dumps(codes))


if __name__ == "__main__":
    main(*sys.argv[1:])
