"""What is done with logged items every night, or by hand: those whose time is over go, and the room
that they had is given back. Documents are brought in step with their files."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from dcf.problem import ProblemError
from dcf.retrieval.retrieval import Retrieval

_log = logging.getLogger(__name__)

_DAY_MS = 24 * 3600 * 1000
_LOOKS_S = 60.0
"""Between two looks at whether the work is due."""


@dataclass(frozen=True, slots=True)
class Maintained:
    """``swept`` items, ``pruned`` days of the audit log, documents that were ``reread``, and those
    that were ``removed``."""

    swept: int
    pruned: int
    reread: int
    removed: int


async def maintain(
    retrieval: Retrieval, projects: Sequence[str], now: int, audit_days: int
) -> Maintained:
    """Sweep the projects, have their documents as their files are, compact the items and remove
    days of the audit log that are older than ``audit_days``. Raises what the store raises; another
    call does what is left."""
    swept = sum([await retrieval.sweep(project) for project in projects])
    refreshed = [await retrieval.refresh(project) for project in projects]
    await retrieval.items.compact()
    pruned = 0
    if retrieval.audit is not None:
        pruned = await retrieval.audit.prune(now - audit_days * _DAY_MS)
    reread, removed = (sum(counts) for counts in zip((0, 0), *refreshed, strict=True))
    return Maintained(swept, pruned, reread, removed)


class Night:
    """When the nightly work is due: once a day at ``hour`` of this machine's time (0 to 23), or
    later where nothing ran then. Of all processes with the same ``file`` one does it: that which
    has the lock on it, and the file says for which day it was done."""

    def __init__(self, file: Path, hour: int, now: Callable[[], datetime] = datetime.now) -> None:
        self._file = file
        self._hour = hour
        self._now = now
        self._failed = ""

    async def watch(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do ``work`` each night, until it is cancelled. A ProblemError or an OSError that it
        raises is logged, and it is tried again the next night."""
        while True:
            await self.do_if_due(work)
            await asyncio.sleep(_LOOKS_S)

    async def do_if_due(self, work: Callable[[], Awaitable[object]]) -> bool:
        """Do ``work`` if it is due and nobody else is at it; whether it was tried here."""
        now = self._now()
        today = now.date().isoformat()
        if now.hour < self._hour or today == self._failed:
            return False
        try:
            with self._claimed(today) as is_due:
                if is_due:
                    await work()
                return is_due
        except (ProblemError, OSError) as error:
            # The file may not say so: it may be what cannot be written.
            self._failed = today
            _log.warning("the nightly work failed and is tried again the next night: %s", error)
            return True

    @contextmanager
    def _claimed(self, day: str) -> Iterator[bool]:
        """Whether the work of ``day`` is this process's: nobody else does it, nor has done it."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._file, flags, 0o600)
        try:
            is_due = _is_locked(descriptor) and os.pread(descriptor, 10, 0) < day.encode()
            if is_due:
                # Before it: what fails, or ends the process, does so once a night.
                os.pwrite(descriptor, day.encode(), 0)
            yield is_due
        finally:
            os.close(descriptor)


def _is_locked(descriptor: int) -> bool:
    """Whether this process has the lock now; not where another one has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
