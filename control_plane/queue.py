"""Ready queues: streams of hints that a state may be leased.

A hint may be lost, doubled or late; the documents decide. A lost one is written again by the sweep.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from control_plane import keys
from control_plane.backend import Backend
from control_plane.errors import RefusedForNow, ServerError

log = logging.getLogger(__name__)

GROUP = "workers"
STALE_MS = 60_000
# How long it is known of a reader when it read last, and how often that is written at most.
_KNOWN_MS = 3_600_000
_SAY_EVERY_S = 1.0
# Blocking reads stay well under the socket timeout.
BLOCK_MS = 2_000


@dataclass(frozen=True, slots=True)
class Hint:
    """This state is probably ready, for a worker of ``pool``."""

    workflow_id: str
    path: str
    entry: str
    pool: str

    @property
    def key(self) -> tuple[str, str]:
        """What ``Store.acquire`` needs to drop it."""
        return GROUP, self.entry


class HintQueues:
    """The hints of several pools, read as ``consumer`` with one blocking read for all of them.
    Wants a backend of its own.

    Reads say, once a second at most, that the consumer is alive (see ``signs_of_life``). Redis
    looks at every stream once a read: a hundred pools a reader are cheap, a thousand want several.
    In a cluster the streams that are read together have to share a slot: their pools need a hash
    tag, as in ``{inbox}.1``.
    """

    def __init__(self, backend: Backend, *, consumer: str, pools: Iterable[str] = ()) -> None:
        self._backend = backend
        self._consumer = consumer
        self._said_s = -math.inf
        self._pools = {keys.queue(pool): pool for pool in pools}

    @property
    def pools(self) -> tuple[str, ...]:
        """The pools that are read, in the order in which they were added."""
        return tuple(self._pools.values())

    async def open(self) -> None:
        """Create the consumer groups where they are missing."""
        for stream in tuple(self._pools):
            await self._open(stream)

    async def add(self, pool: str) -> None:
        """Read ``pool`` too, from the next read on."""
        await self._open(keys.queue(pool))
        self._pools[keys.queue(pool)] = pool

    async def remove(self, pool: str) -> None:
        """Read ``pool`` no more, and leave it as ``leave`` does. A hint that a read brings from it
        at this very moment is lost: a sweep writes it again."""
        if self._pools.pop(keys.queue(pool), None) is not None:
            await self._leave(keys.queue(pool))

    async def read(self, count: int, *, block_ms: int = BLOCK_MS) -> list[Hint]:
        """Up to ``count`` new hints of each pool; waits up to ``block_ms`` for the first of any.
        Without pools it waits as long, for nothing."""
        streams = tuple(self._pools)
        if not streams:
            await asyncio.sleep(block_ms / 1000)
            return []
        await self._say_alive()
        try:
            answer = await self._backend.command(
                "XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", count, "BLOCK", block_ms,
                "STREAMS", *streams, *([">"] * len(streams)),
            )  # fmt: skip
        except ServerError as error:
            if "NOGROUP" not in str(error):
                raise
            # The server lost its data, or somebody removed a stream: hints are written again.
            await self.open()
            return []
        hints = []
        for stream, entries in answer or ():
            for entry, fields in entries:
                # Of a stream that is read no more, or an entry that was removed, there is nothing.
                if not fields or stream not in self._pools:
                    continue
                hint = _hint(entry, fields, self._pools[stream])
                if hint is None:
                    log.warning("entry %s of %s is no hint, and dropped: %s", entry, stream, fields)
                    await self._settle(stream, entry)
                else:
                    hints.append(hint)
        return hints

    async def drop_stale(self) -> int:
        """Forget hints that a consumer took over a minute ago and never settled: they are not
        executed from here, the sweep brings what they stood for. How many there were.

        Who is busy, and so reads nothing, gives its sign of life here."""
        await self._say_alive()
        return sum([await self._drop_stale(stream) for stream in tuple(self._pools)])

    async def leave(self) -> None:
        """Remove this consumer from the groups, and the hints it never settled from the streams."""
        for stream in tuple(self._pools):
            await self._leave(stream)
        await self._backend.command("DEL", keys.reader(self._consumer))

    async def _say_alive(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if now_s - self._said_s >= _SAY_EVERY_S:
            sign = keys.reader(self._consumer)
            # While a server takes no writes, no worker gives a sign; whoever writes more than that
            # waits, and tells of it.
            with suppress(RefusedForNow):
                await self._backend.command("SET", sign, 1, "PX", _KNOWN_MS)
            self._said_s = now_s

    async def _open(self, stream: str) -> None:
        try:
            await self._backend.command("XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM")
        except ServerError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def _drop_stale(self, stream: str) -> int:
        try:
            answer = await self._backend.command(
                "XAUTOCLAIM", stream, GROUP, self._consumer, STALE_MS, "0-0", "COUNT", 100, "JUSTID"
            )
        except ServerError as error:
            if not _is_missing(error):
                raise
            return 0
        for entry in answer[1]:
            await self._settle(stream, entry)
        return len(answer[1])

    async def _settle(self, stream: str, entry: str) -> None:
        # Deleted first: what is deleted and still pending is cleaned up by the next call, what is
        # acknowledged and still there would stay for ever.
        await self._backend.command("XDEL", stream, entry)
        await self._backend.command("XACK", stream, GROUP, entry)

    async def _leave(self, stream: str) -> None:
        try:
            pending = await self._backend.command(
                "XPENDING", stream, GROUP, "-", "+", 1000, self._consumer
            )
            for entry, *_ in pending:
                await self._backend.command("XDEL", stream, entry)
            await self._backend.command("XGROUP", "DELCONSUMER", stream, GROUP, self._consumer)
        except ServerError as error:
            # Somebody removed the stream, and with it what there was to leave.
            if not _is_missing(error):
                raise


class HintQueue(HintQueues):
    """The hints of one pool, read as ``consumer``. Wants a backend of its own: reads block."""

    def __init__(self, backend: Backend, *, pool: str, consumer: str) -> None:
        super().__init__(backend, consumer=consumer, pools=[pool])


async def signs_of_life(backend: Backend, pool: str) -> dict[str, int]:
    """The workers that read the queue of ``pool``, each with how many milliseconds ago it said so.
    Those that left are gone from it; those that died grow old, for an hour. What Redis itself knows
    of consumers does not do: their idle times begin anew when a server loads its log."""
    try:
        rows = await backend.command("XINFO", "CONSUMERS", keys.queue(pool), GROUP)
    except ServerError as error:
        # No worker ever came: the stream, or the group that the first one makes, is not there.
        if not _is_missing(error):
            raise
        return {}
    names = [str(dict(zip(row[::2], row[1::2], strict=True))["name"]) for row in rows]
    left = await asyncio.gather(*(backend.command("PTTL", keys.reader(name)) for name in names))
    return {
        name: _KNOWN_MS - int(left_ms)
        for name, left_ms in zip(names, left, strict=True)
        if left_ms >= 0
    }


def _is_missing(error: ServerError) -> bool:
    """Whether there is no such stream, or no group of it."""
    text = str(error)
    return "NOGROUP" in text or "no such key" in text or "requires the key to exist" in text


def _hint(entry: str, fields: list[str], pool: str) -> Hint | None:
    """The hint that an entry is; None for what somebody else wrote into the stream."""
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    if "workflow" not in named or "path" not in named:
        return None
    return Hint(named["workflow"], named["path"], entry, pool)
