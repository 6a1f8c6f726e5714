"""One control plane to test, in process or on a real server, with a clock that the test moves."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from redis.asyncio import Redis

from control_plane import Backend, HintQueue, RedisBackend, Store, keys
from control_plane.script import Script
from control_plane.twin import Twin

START_MS = 1_790_000_000_000
CLOCK_KEY = "test:clock"
# What differs by nature: entry ids of streams come from the server's own clock.
_READERS = {
    "ReJSON-RL": ("JSON.GET",),
    "hash": ("HGETALL",),
    "set": ("SMEMBERS",),
    "string": ("GET",),
    "zset": ("ZRANGE", 0, -1, "WITHSCORES"),
    "stream": ("XRANGE", "-", "+"),
}


# In one call: one by one, what tests read at their end takes half of their time.
_READ_ALL = """
local readers, found = cjson.decode(ARGV[1]), {}
for at, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  local reader = readers[kind]
  found[at] = {key, kind, redis.call(reader[1], key, unpack(reader, 2))}
end
return found
"""


class VirtualRedis(RedisBackend):
    """A real server whose scripts read the time from a key."""

    async def run(self, script: Script, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        return await super().run(script.with_clock(CLOCK_KEY), keys, args)

    async def command(self, *args: str | int) -> Any:
        if args == ("TIME",):
            return await super().command("HMGET", CLOCK_KEY, "seconds", "microseconds")
        return await super().command(*args)


class _Prompt:
    """The backend, whose reads do not wait: time that passes for nothing is the test's own."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self.run, self.close = inner.run, inner.close

    async def command(self, *args: str | int) -> Any:
        if "BLOCK" in args:
            at = args.index("BLOCK")
            args = args[:at] + args[at + 2 :]
        return await self._inner.command(*args)


class World(ABC):
    """A backend, its time, and stores on it whose ids are numbered, not random."""

    def __init__(self) -> None:
        self.now_ms = START_MS
        self._ids = itertools.count(1)

    @property
    @abstractmethod
    def backend(self) -> Backend:
        """The backend itself."""

    async def advance(self, ms: int) -> None:
        """Let ``ms`` milliseconds pass."""
        self.now_ms += ms

    def token(self) -> str:
        """An id that no other call gets, the same in every repetition of a test."""
        return f"{next(self._ids):032x}"

    def store(self, backend: Backend | None = None, **options: Any) -> Store:
        """A store; by default directly on the world's backend."""
        return Store(backend or self.backend, tokens=self.token, **options)

    def queue(self, consumer: str = "reader", pool: str = "default") -> HintQueue:
        """The hints, read through the world's backend."""
        return HintQueue(_Prompt(self.backend), pool=pool, consumer=consumer)

    async def keys(self) -> list[str]:
        """Every key, sorted, but the clock and what tells that Redis accepts writes."""
        found = await self.backend.command("KEYS", "*")
        return sorted(key for key in found if key not in (CLOCK_KEY, keys.ACCEPTED))

    async def dump(self) -> dict[str, Any]:
        """Everything stored, comparable between backends."""
        found = await self._read(await self.keys())
        return {key: _value(kind, reply) for key, kind, reply in found}

    async def _read(self, names: Sequence[str]) -> Iterable[tuple[str, str, Any]]:
        """Each key with its type and what the type's reader replies."""
        kinds = {key: await self.backend.command("TYPE", key) for key in names}
        commands = {key: _READERS[kind] for key, kind in kinds.items()}
        return [
            (key, kinds[key], await self.backend.command(name, key, *rest))
            for key, (name, *rest) in commands.items()
        ]

    async def close(self) -> None:
        """Release connections."""
        await self.backend.close()


def _value(kind: str, reply: Any) -> Any:
    """What a key of this type holds."""
    if kind == "ReJSON-RL":
        return json.loads(reply)
    if kind == "set":
        return sorted(reply)
    if kind == "hash":
        return dict(zip(reply[::2], reply[1::2], strict=True))
    if kind == "zset":
        return [(name, float(score)) for name, score in zip(*[iter(reply)] * 2, strict=True)]
    return [fields for _, fields in reply] if kind == "stream" else reply


class TwinWorld(World):
    """The in-process twin."""

    def __init__(self) -> None:
        super().__init__()
        self.twin = Twin(lambda: self.now_ms * 1000, strict_keys=False)

    @property
    def backend(self) -> Backend:
        return self.twin


class RedisWorld(World):
    """A real server."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._backend = VirtualRedis.from_url(url)

    @property
    def backend(self) -> Backend:
        return self._backend

    async def open(self) -> None:
        """Set the clock."""
        await self.advance(0)

    async def close(self) -> None:
        # Five hundred ticks a second cost a tenth of what tests cost on a core.
        await self._backend.command("CONFIG", "SET", "hz", 10)
        await super().close()

    async def _read(self, names: Sequence[str]) -> Iterable[tuple[str, str, Any]]:
        readers = json.dumps(_READERS)
        found: list[tuple[str, str, Any]] = await self.backend.command(
            "EVAL", _READ_ALL, len(names), *names, readers
        )
        return found

    async def advance(self, ms: int) -> None:
        await super().advance(ms)
        seconds, rest = divmod(self.now_ms, 1000)
        await self._backend.command(
            "HSET", CLOCK_KEY, "seconds", seconds, "microseconds", rest * 1000
        )


async def open_world(url: str | None) -> World:
    """An empty control plane on the server at ``url``, or on a twin."""
    if url is None:
        return TwinWorld()
    async with Redis.from_url(url) as client:
        await client.flushall()
        # A blocking read ends at the next tick of the server's own timer, ten a second by default.
        await client.config_set("hz", 500)
    world = RedisWorld(url)
    await world.open()
    return world
