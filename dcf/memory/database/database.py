"""The memory file as asyncio sees it: one writer, several readers, whole transactions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from dcf.memory.database.backup import back_up
from dcf.memory.database.connection import Connection, Source, translated
from dcf.memory.database.copying import files_of
from dcf.memory.database.opening import opened
from dcf.memory.database.shrinking import end_log, rewrite, shrink_step
from dcf.memory.database.users import Use

T = TypeVar("T")
Work = Callable[[Connection], T]
"""A synchronous function of SQL, run as one transaction: all of it is kept, or nothing."""

_READERS = 4


class Database:
    """Runs work on the memory file in threads of its own.

    Any number of processes may do the same with one file: writers take turns, and readers see the
    last commit, never half of one.
    """

    def __init__(self, source: Source, writer: Connection, use: Use) -> None:
        self.source = source
        self._writer = writer
        self._use = use
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="memory-write")
        self._reading = ThreadPoolExecutor(_READERS, thread_name_prefix="memory-read")
        self._own = threading.local()
        self._readers: list[Connection] = []
        self._lock = threading.Lock()

    @classmethod
    async def open(cls, source: Source) -> Self:
        """The file at ``source``, made if it is missing, at the newest version.

        Raises a MemoryProblem.
        """
        return await asyncio.to_thread(cls._open, source)

    @classmethod
    def _open(cls, source: Source) -> Self:
        source.make()
        use = Use(source.path)
        try:
            return cls(source, opened(source), use)
        except BaseException:
            use.end()
            raise

    async def write(self, work: Work[T]) -> T:
        """What ``work`` returns, once it is committed. Raises a MemoryProblem, or whatever ``work``
        raises, with nothing changed. Cancelled while it runs, it still ends whole."""
        return await self._in(self._writing, partial(self._write, work))

    async def read(self, work: Work[T]) -> T:
        """What ``work`` returns, of one moment. Raises as ``write``."""
        return await self._in(self._reading, partial(self._read, work))

    async def back_up(self, to: Path, *, overwrite: bool = False) -> Path:
        """Copy the file, as it is now, to ``to``, which is there whole or not at all; with its key,
        if it has one. Nobody waits for it. Raises BackupExists unless it may ``overwrite``."""
        return await asyncio.to_thread(self._back_up, to, overwrite)

    async def wal_size(self) -> int:
        """Bytes of what is committed, but not yet in the file."""
        return await asyncio.to_thread(self._wal_size)

    async def shrink(self) -> None:
        """Give back what the file no longer needs, in steps between which others write. Raises
        MemoryBusy, MemoryFull."""
        while await self._in(self._writing, partial(self._outside, shrink_step)):
            pass
        await self._in(
            self._writing,
            partial(self._outside, lambda connection: end_log(connection, self.source.busy_s)),
        )

    async def rewrite(self) -> None:
        """Write the file anew, so that nothing is in it, nor beside it, that no row has any more.
        Others wait meanwhile. Raises MemoryBusy, MemoryFull."""
        await self._in(
            self._writing,
            partial(self._outside, lambda connection: rewrite(connection, self.source.busy_s)),
        )

    async def close(self) -> None:
        """Wait for what runs, then close all connections."""
        await asyncio.to_thread(self._close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _in(self, threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, call)

    def _write(self, work: Work[T]) -> T:
        with translated(self.source):
            return _transaction(self._writer, "IMMEDIATE", work)

    def _outside(self, work: Work[T]) -> T:
        """Run what makes transactions of its own."""
        with translated(self.source):
            return work(self._writer)

    def _wal_size(self) -> int:
        wal = files_of(self.source.path)[1]
        return wal.stat().st_size if wal.exists() else 0

    def _read(self, work: Work[T]) -> T:
        with translated(self.source):
            return _transaction(self._reader(), "DEFERRED", work)

    def _back_up(self, to: Path, overwrite: bool) -> Path:
        with closing(self.source.connect()) as connection:
            return back_up(connection, self.source, to, overwrite=overwrite)

    def _reader(self) -> Connection:
        found: Connection | None = getattr(self._own, "connection", None)
        if found is None:
            found = self.source.connect()
            found.execute("PRAGMA query_only = ON")
            # Each has its own. What searches read is mostly in no cache of this size or the
            # writer's, four times as large: they take the same time with either.
            found.execute("PRAGMA cache_size = -4000")
            self._own.connection = found
            with self._lock:
                self._readers.append(found)
        return found

    def _close(self) -> None:
        self._writing.shutdown()
        self._reading.shutdown()
        for connection in (*self._readers, self._writer):
            connection.close()
        self._use.end()


def _transaction(connection: Connection, kind: str, work: Work[T]) -> T:
    connection.execute(f"BEGIN {kind}")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back where the disk is full or the file damaged.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result
