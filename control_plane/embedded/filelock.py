"""Advisory locks on files that the kernel releases when the last holder dies.

Two of them guard a data folder. ``start.lock`` is held while someone starts or stops the server.
``server.lock`` is opened by the starter and *inherited by the server process*, so that it is held
for exactly as long as that process lives: a pid may be given to a stranger, this lock cannot.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from control_plane.embedded.pause import pauses

_TAKEN = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


def try_lock(path: Path, *, shared: bool = False) -> int | None:
    """An open descriptor that holds the lock until closed, or None when somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _TAKEN:
            return None
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Whether somebody holds ``path`` exclusively. Askers do not disturb one another."""
    if not path.exists():
        return False
    descriptor = try_lock(path, shared=True)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False


async def lock(path: Path, timeout_s: float) -> int:
    """Like ``try_lock`` with patience; TimeoutError after ``timeout_s`` seconds."""
    async with asyncio.timeout(timeout_s):
        async for _ in pauses():
            if (descriptor := try_lock(path)) is not None:
                return descriptor
    raise AssertionError("pauses() never ends")


@asynccontextmanager
async def locked(path: Path, timeout_s: float) -> AsyncIterator[None]:
    """Holds ``path`` for the block; TimeoutError when it cannot be had within ``timeout_s``."""
    descriptor = await lock(path, timeout_s)
    try:
        yield
    finally:
        os.close(descriptor)
