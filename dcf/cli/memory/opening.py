"""The memory of this home, as its user has it open."""

from __future__ import annotations

import getpass
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dcf.cli.settings import Settings
from dcf.cli.trouble import NotSo
from dcf.memory import Actor, Memory, Source, random_id, source_of


def now_ms() -> int:
    """Milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000


def source_in(settings: Settings) -> Source:
    """Where the memory is. Raises UnusableKey."""
    return source_of(settings.env, settings.home)


def demand_memory(source: Source) -> None:
    """Raises NotSo unless there is a file: what only looks, or changes what is there, makes
    none."""
    if not source.path.exists():
        message = f"there is no memory at {source.path}"
        hint = "`dcf memory init` makes one; DCF_MEMORY and DCF_HOME say where"
        raise NotSo("memory_missing", message, hint)


@asynccontextmanager
async def opened(settings: Settings, *, make: bool = False) -> AsyncIterator[Memory]:
    """The memory, made if it is missing and may be. Raises a MemoryProblem, NotSo."""
    source = source_in(settings)
    if not make:
        demand_memory(source)
    async with Memory.open(
        source, clock=now_ms, new_id=random_id, embedder=settings.embedder
    ) as memory:
        yield memory


def person(reason: str) -> Actor:
    """The user at the command line, for the record of changes."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a number that has no name.
        name = "somebody"
    return Actor("user", name, reason)
