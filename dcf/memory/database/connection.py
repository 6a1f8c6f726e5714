"""Connections to the memory file, plain or encrypted."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, cast

from dcf.memory.database.errors import (
    CipherMissing,
    MemoryBusy,
    MemoryCorrupt,
    MemoryFull,
    MemoryKey,
    MemoryUnusable,
    MemoryWithoutHeader,
    UnusableKey,
    UnusableValue,
)
from dcf.memory.errors import MemoryProblem

Connection: TypeAlias = sqlite3.Connection
"""Of ``sqlite3``, or its like of ``sqlcipher3`` where the file has a key."""

ACCESS_DAYS = 30

BUSY_S = 30.0
"""How long a transaction waits for those of other processes."""

_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_IOERR_SHORT_READ", "SQLITE_FORMAT")
_UNUSABLE = ("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory file is and how it is opened.

    ``key`` encrypts the whole file (None: it is not encrypted). With ``power_safe`` a commit waits
    for the disk; without, a commit survives the death of any process, but a power failure may take
    the last ones. The file is whole in both cases. A transaction waits ``busy_s`` seconds for
    others. Who reads entries of nodes stays on record for ``access_days``; 0: it is not noted.
    """

    path: Path
    key: str | None = field(default=None, repr=False)
    power_safe: bool = False
    busy_s: float = BUSY_S
    access_days: int = ACCESS_DAYS

    def __post_init__(self) -> None:
        if self.key is not None and (not self.key or "\0" in self.key):
            raise UnusableKey

    def make(self) -> None:
        """Make the file, empty and for its owner alone, and its folder, if they are missing."""
        with translated(self):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Never opened if it is there: closing it would take SQLite's locks from this process.
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            if not self.path.is_file():
                raise MemoryUnusable(path=self.path, reason="it is no regular file")

    def connect(self, *, cipher: bool = False, cut: bool = False) -> Connection:
        """A connection in autocommit mode; rows come as ``Row``. With ``cipher`` it can attach
        encrypted files even if this one has no key; with ``cut`` a file that ends too early is read
        as far as it goes. Raises a MemoryProblem."""
        driver = sqlite3 if self.key is None and not cipher else _cipher()
        with translated(self):
            connection = cast(
                Connection,
                driver.connect(
                    self.path, timeout=self.busy_s, isolation_level=None, check_same_thread=False
                ),
            )
            try:
                self._prepare(connection, driver, cut=cut)
            except BaseException:
                connection.close()
                raise
        return connection

    def _prepare(self, connection: Connection, driver: ModuleType, *, cut: bool) -> None:
        if self.key is not None:
            # Not what the library prints of a wrong key: the error says it.
            connection.execute("PRAGMA cipher_log_level = NONE")
            connection.execute(f"PRAGMA key = {quoted(self.key)}")
        if cut:
            # Else SQLite refuses a file with fewer pages than its header names.
            connection.execute("PRAGMA writable_schema = ON")
        connection.row_factory = driver.Row
        connection.execute(f"PRAGMA synchronous = {'FULL' if self.power_safe else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -16000")
        # Pages of 4 kB that wait beside the file. At the usual 1,000 every tenth new agent would
        # pay for their writing back.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        # The first that reads the file: only now a wrong key shows.
        connection.execute("PRAGMA user_version").fetchone()


def _cipher() -> ModuleType:
    try:
        import sqlcipher3.dbapi2
    except ImportError as error:
        raise CipherMissing from error
    return cast(ModuleType, sqlcipher3.dbapi2)


def quoted(text: str) -> str:
    """``text`` as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def translated(source: Source) -> Iterator[None]:
    """Errors of SQLite in the block become the MemoryProblem that says what to do."""
    try:
        yield
    except MemoryProblem:
        raise
    except Exception as error:
        problem = _problem(source, error)
        if problem is None:
            raise
        raise problem from error


def _problem(source: Source, error: Exception) -> MemoryProblem | None:
    name = getattr(error, "sqlite_errorname", None)
    if not isinstance(name, str):
        if isinstance(error, OSError):
            return MemoryUnusable(path=source.path, reason=str(error))
        return _unusable_value(error)
    if name.startswith(_BUSY):
        return MemoryBusy(path=source.path, seconds=source.busy_s)
    if name.startswith(_FULL):
        return MemoryFull(path=source.path)
    if name == "SQLITE_NOTADB" and source.key is not None:
        return MemoryKey(path=source.path)
    if name == "SQLITE_NOTADB":
        return MemoryWithoutHeader(path=source.path)
    if name.startswith(_DAMAGED):
        return MemoryCorrupt(path=source.path, reason=str(error))
    if name.startswith(_UNUSABLE):
        return MemoryUnusable(path=source.path, reason=str(error))
    return None


def _unusable_value(error: Exception) -> MemoryProblem | None:
    """What a driver refuses to hand to SQLite, in ids and names that are only looked for, too."""
    if isinstance(error, UnicodeEncodeError):
        found = f"a text has half a surrogate pair at character {error.start}"
        return UnusableValue(reason=found)
    if isinstance(error, OverflowError):
        return UnusableValue(reason="a number is too large")
    return None
