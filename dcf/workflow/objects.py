"""The objects that ItemReader reads and ResultWriter writes, without holding up the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from control_plane import JSON
from dcf import asl
from dcf.asl.maps import printable

T = TypeVar("T")
log = logging.getLogger(__name__)


class Objects:
    """An object store as choreography uses it.

    What a store does with files or a network happens in a thread; one that is ``in_memory`` is
    asked directly. Whoever takes a state over reads and writes the same again, by the same keys.
    """

    def __init__(self, store: asl.ObjectStore, *, in_memory: bool = False) -> None:
        self._store = store
        self._in_memory = in_memory

    async def read(self, request: asl.ReadItems) -> asl.Event:
        """The answer to ``request``, whatever the store does."""
        try:
            return await self.apart(lambda: asl.read_items(self._store, request))
        except Exception as error:
            log.exception("the object store failed while %s was read", request)
            return asl.ItemsUnreadable(_told(error))

    async def write(self, request: asl.WriteResults) -> asl.Event:
        """The answer to ``request``, whatever the store does."""
        try:
            return await self.apart(lambda: asl.write_results(self._store, request))
        except Exception as error:
            log.exception("the object store failed while %s was written to", request.bucket)
            return asl.ResultsUnwritable(_told(error))

    async def apart(self, act: Callable[[], T]) -> T:
        """What ``act`` gives, which takes long: done in a thread like the store's own work."""
        return act() if self._in_memory else await asyncio.to_thread(act)


def no_objects(*, in_memory: bool = True) -> Objects:
    """The objects of a worker that was given none: nothing can be read or written."""
    return Objects(_Nothing(), in_memory=in_memory)


class _Nothing:
    def get(self, ref: asl.ObjectRef) -> bytes | None:
        raise _missing()

    def list(self, bucket: str, prefix: str) -> Sequence[Mapping[str, JSON]]:
        raise _missing()

    def put(self, bucket: str, key: str, content: bytes) -> None:
        raise _missing()


def _missing() -> OSError:
    return OSError("this worker has no object store: set DCF_OBJECTS")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {printable(error)}"
