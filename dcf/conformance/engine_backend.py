"""The control plane under a run of the corpus: a server whose time is the loop's, and who listens.

Blocking reads do not block: they wait for the next hint, which is never lost here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from control_plane import Backend, RedisBackend, Script
from dcf.conformance.engine_loop import EngineLoop

_CLOCK_KEY = "conformance:clock"
_NO_REPLY = ("claim", "leave")


class ClockedRedis(RedisBackend):
    """A real server whose scripts read the time from a key; ``clock`` gives microseconds."""

    clock: Callable[[], int]
    _scripts_by_name: dict[str, Script]
    _told_us = -1

    @classmethod
    def at(cls, url: str, clock: Callable[[], int]) -> ClockedRedis:
        """The server at ``url``."""
        backend = cls.from_url(url)
        assert isinstance(backend, ClockedRedis)
        backend.clock, backend._scripts_by_name = clock, {}
        return backend

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        now_us = self.clock()
        if now_us != self._told_us:
            self._told_us = now_us
            seconds, micros = divmod(now_us, 1_000_000)
            fields = ("seconds", seconds, "microseconds", micros)
            await super().command("HSET", _CLOCK_KEY, *fields)
        clocked = self._scripts_by_name.get(script.name)
        if clocked is None:
            clocked = self._scripts_by_name[script.name] = script.with_clock(_CLOCK_KEY)
        return await super().run(clocked, keys, args)

    async def command(self, *args: str | int) -> Any:
        if args == ("TIME",):
            return list(divmod(self.clock(), 1_000_000))
        if args == ("FLUSHDB",):
            self._told_us = -1
        return await super().command(*args)


class Observed:
    """A backend that tells of what happened: ``over`` when the run ended, ``changed`` when a
    script ran since somebody last looked at what is due."""

    def __init__(self, inner: Backend, loop: EngineLoop) -> None:
        self.inner = inner
        self.changed = False
        self.over = asyncio.Event()
        self._loop = loop
        self._hinted = asyncio.Event()

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        """See ``Backend.run``."""
        with self._loop.calling():
            reply = await self.inner.run(script, keys, args)
        self.changed = True
        if script.name in _NO_REPLY:
            return reply
        if reply[-1][1]:
            self._hinted.set()
            self._hinted = asyncio.Event()
        if _tells_the_end(script.name, reply):
            self.over.set()
        return reply

    async def command(self, *args: str | int) -> Any:
        """See ``Backend.command``."""
        if "BLOCK" not in args:
            return await self._ask(args)
        at = args.index("BLOCK")
        args = args[:at] + args[at + 2 :]
        while True:
            hinted = self._hinted
            reply = await self._ask(args)
            if reply:
                return reply
            await hinted.wait()

    async def close(self) -> None:
        """See ``Backend.close``."""
        await self.inner.close()

    async def _ask(self, args: tuple[str | int, ...]) -> Any:
        with self._loop.calling():
            return await self.inner.command(*args)


def _tells_the_end(name: str, reply: list[Any]) -> bool:
    if reply[0] != "ok":
        return False
    if name == "commit":
        return bool(reply[4])
    return name == "tick" and reply[4] not in ("running", "pending")
