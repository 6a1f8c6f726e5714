"""Being told that a folder of skills changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

_STEP_MS = 30
_TICK_MS = 200


async def changes(
    folder: Path, *, debounce_ms: int, stop: asyncio.Event | None = None
) -> AsyncIterator[None]:
    """Yields once when watching has begun, so that nothing between reading and watching is missed,
    then after every change: those that come closer together than 30 ms are one, and after
    ``debounce_ms`` a stream of them is told of though it goes on. Where the folder goes and
    another one comes in its place, that one is watched. Ends with ``stop``.

    Raises FileNotFoundError if there is no such folder.
    """
    ended = asyncio.Event() if stop is None else stop
    begun = False
    while not ended.is_set():
        try:
            async with aclosing(_told(folder, debounce_ms, ended)) as told:
                async for _ in told:
                    begun = True
                    yield
        except FileNotFoundError:
            if not begun:
                raise
            await asyncio.sleep(_TICK_MS / 1000)


async def _told(folder: Path, debounce_ms: int, stop: asyncio.Event) -> AsyncGenerator[None]:
    """Yields as ``changes``, for as long as it is this folder that has the path."""
    from watchfiles import Change, awatch

    watched, begun = _identity(folder), False
    async for changed in awatch(
        folder,
        step=min(_STEP_MS, debounce_ms),
        debounce=debounce_ms,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        stop_event=stop,
    ):
        if changed or not begun:
            begun = True
            yield
        # The number of a folder that is gone may be given to the one that takes its place.
        if (Change.deleted, str(folder)) in changed or _identity(folder) not in (None, watched):
            return


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which folder has this path now; None if there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
