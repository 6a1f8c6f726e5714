"""The objects that ItemReader reads and ResultWriter writes, without holding up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from dcf import asl

T = TypeVar("T")


class Objects:
    """An object store as choreography uses it.

    What a store does with files or a network happens in a thread; one that is ``in_memory`` is
    asked directly. Whoever takes a state over reads and writes the same again, by the same keys.
    """

    def __init__(self, store: asl.ObjectStore, *, in_memory: bool = False) -> None:
        self._store = store
        self._in_memory = in_memory

    async def read(self, request: asl.ReadItems) -> asl.Event:
        """The answer to ``request``."""
        return await self._do(lambda: asl.read_items(self._store, request))

    async def write(self, request: asl.WriteResults) -> asl.Event:
        """The answer to ``request``."""
        return await self._do(lambda: asl.write_results(self._store, request))

    async def _do(self, act: Callable[[], T]) -> T:
        return act() if self._in_memory else await asyncio.to_thread(act)


def no_objects() -> Objects:
    """The objects of a worker that was given none: there are none, and none can be written."""
    return Objects(_Nothing(), in_memory=True)


class _Nothing(asl.MemoryObjects):
    def put(self, bucket: str, key: str, content: bytes) -> None:
        raise OSError(f"this worker has no object store to write {bucket}/{key} to")
