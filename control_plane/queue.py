"""Ready queues: streams of hints that a state may be leased.

A hint may be lost, doubled or late; the documents decide. A lost one is written again by the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass

from control_plane import keys
from control_plane.backend import Backend
from control_plane.errors import ServerError

GROUP = "workers"
STALE_MS = 60_000
# Blocking reads stay well under the socket timeout.
BLOCK_MS = 2_000


@dataclass(frozen=True, slots=True)
class Hint:
    """This state is probably ready."""

    workflow_id: str
    path: str
    entry: str

    @property
    def key(self) -> tuple[str, str]:
        """What ``Store.acquire`` needs to drop it."""
        return GROUP, self.entry


class HintQueue:
    """The hints of one pool, read as ``consumer``. Wants a backend of its own: reads block."""

    def __init__(self, backend: Backend, *, pool: str, consumer: str) -> None:
        self._backend = backend
        self._stream = keys.queue(pool)
        self._consumer = consumer

    async def open(self) -> None:
        """Create the consumer group where it is missing."""
        try:
            await self._backend.command("XGROUP", "CREATE", self._stream, GROUP, "0", "MKSTREAM")
        except ServerError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def read(self, count: int, *, block_ms: int = BLOCK_MS) -> list[Hint]:
        """Up to ``count`` new hints; waits up to ``block_ms`` for the first."""
        try:
            answer = await self._backend.command(
                "XREADGROUP", "GROUP", GROUP, self._consumer, "COUNT", count, "BLOCK", block_ms,
                "STREAMS", self._stream, ">",
            )  # fmt: skip
        except ServerError as error:
            if "NOGROUP" not in str(error):
                raise
            # The server lost its data, or somebody removed the stream: hints are written again.
            await self.open()
            return []
        if not answer:
            return []
        return [_hint(entry, fields) for entry, fields in answer[0][1] if fields]

    async def drop_stale(self) -> int:
        """Forget hints that a consumer took over a minute ago and never settled: they are not
        executed from here, the sweep brings what they stood for. How many there were."""
        answer = await self._backend.command(
            "XAUTOCLAIM", self._stream, GROUP, self._consumer, STALE_MS, "0-0", "COUNT", 100,
            "JUSTID",
        )  # fmt: skip
        for entry in answer[1]:
            # Deleted first: what is deleted and still pending is cleaned up by the next call, what
            # is acknowledged and still there would stay for ever.
            await self._backend.command("XDEL", self._stream, entry)
            await self._backend.command("XACK", self._stream, GROUP, entry)
        return len(answer[1])

    async def leave(self) -> None:
        """Remove this consumer from the group, and the hints it never settled from the stream."""
        pending = await self._backend.command(
            "XPENDING", self._stream, GROUP, "-", "+", 1000, self._consumer
        )
        for entry, *_ in pending:
            await self._backend.command("XDEL", self._stream, entry)
        await self._backend.command("XGROUP", "DELCONSUMER", self._stream, GROUP, self._consumer)


async def signs_of_life(backend: Backend, pool: str) -> dict[str, int]:
    """The workers that read the queue of ``pool``, each with how many milliseconds ago it did.
    Those that left are gone from it; those that died grow old."""
    try:
        rows = await backend.command("XINFO", "CONSUMERS", keys.queue(pool), GROUP)
    except ServerError as error:
        # No worker ever came: the stream, or the group that the first one makes, is not there.
        if "NOGROUP" in str(error) or "no such key" in str(error):
            return {}
        raise
    consumers = [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]
    return {str(consumer["name"]): int(consumer["idle"]) for consumer in consumers}


def _hint(entry: str, fields: list[str]) -> Hint:
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    return Hint(named["workflow"], named["path"], entry)
