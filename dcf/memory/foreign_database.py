"""An SQLite database of another program: read as it is at one moment, never written."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from dcf.memory.errors import DamagedDatabase, LockedDatabase

HEADER = b"SQLite format 3\0"
"""What an SQLite database begins with."""
_WAL = 2
"""In byte 18 of a database: it has a write-ahead log."""
BUSY_S = 5.0


def is_database(file: Path) -> bool:
    """Whether a file begins as SQLite databases do. Raises OSError."""
    return _begin(file).startswith(HEADER)


@contextmanager
def reading(
    file: Path, *, busy_s: float = BUSY_S, cut: bool = False
) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, in one transaction; any thread may use it, rows come as
    ``Row``. The program may go on writing. ``cut``: of a file that is shorter than it says, what is
    there is read. Raises DamagedDatabase, LockedDatabase, also from the block."""
    with ExitStack() as stack:
        try:
            place = _readable(file, stack)
            uri = f"file:{quote(str(place.absolute()))}?mode=ro"
            connection = stack.enter_context(
                closing(
                    sqlite3.connect(
                        uri,
                        uri=True,
                        timeout=busy_s,
                        isolation_level=None,
                        check_same_thread=False,
                    )
                )
            )
            connection.row_factory = sqlite3.Row
            # One text that is no UTF-8 does not take the other columns along.
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            if cut:
                # So SQLite takes the size of the file for that of the database.
                connection.execute("PRAGMA writable_schema = ON")
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield connection
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None)
            if name is None:
                raise
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise LockedDatabase(path=file) from error
            raise DamagedDatabase(path=file, reason=error) from error


def _readable(file: Path, stack: ExitStack) -> Path:
    """The file, or a copy of it. Who reads a database with a write-ahead log makes the files of
    the log where they are missing; a program that has it open has made them. Raises
    LockedDatabase."""
    if not is_logged(file) or _is_open(file):
        return file
    copy, before = Path(stack.enter_context(TemporaryDirectory()), file.name), _stamp(file)
    shutil.copyfile(file, copy)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{file}-wal", f"{copy}-wal")
    if _is_open(file):
        return file
    if _stamp(file) != before:
        # A program came and went: the copy may be of two moments.
        raise LockedDatabase(path=file)
    return copy


def is_logged(file: Path) -> bool:
    """Whether the database has a write-ahead log: the file may not change when its content does."""
    return _begin(file)[18:19] == bytes([_WAL])


def _is_open(file: Path) -> bool:
    return Path(f"{file}-wal").exists() and Path(f"{file}-shm").exists()


def _stamp(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_mtime_ns, found.st_size


def _begin(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(100)
