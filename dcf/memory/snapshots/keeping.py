"""The file of a snapshot: there whole or not at all, and encrypted where the memory is.

An encrypted one is an SQLCipher file, as the memory is, with the bytes of the plain one in it, in
pieces. It has the same name: who writes it leaves no plain one beside it. The pieces stand in
tables so small that no page between their roots and them is needed, and the roots stand first: of
a file that was cut all is read that stands before the cut.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path

from dcf.memory.database import (
    MemoryKey,
    Source,
    holders_of,
    partial,
    sync,
    translated,
)
from dcf.memory.errors import MemoryProblem
from dcf.memory.snapshot import SNAPSHOT_FILE
from dcf.memory.snapshots.errors import (
    SnapshotBusy,
    SnapshotEncrypted,
    SnapshotMissing,
    SnapshotTooLarge,
    SnapshotUnreadable,
)
from dcf.memory.snapshots.sealed import MAGIC
from dcf.regular_file import LARGEST, read_regular

_PIECE = 1_900
"""Bytes of a row. Two fit into one page, so that what stands before a damaged one can be read."""
_ROWS = 800
"""Rows of a table: a root names some 440 pages (SQLite's file format, 1.6)."""
_FIRST_FORM = "pieces"
"""The one table of files that were written before there were several."""
_TABLE = re.compile(r"pieces_[0-9]{6}")
_WAIT_S, _AGAIN_S = 3.0, 0.05


@asynccontextmanager
async def alone(
    folder: Path,
    memory: Source,
    *,
    clock: Callable[[], float],
    sleep: Callable[[float], Awaitable[object]],
) -> AsyncIterator[None]:
    """Nobody else writes the snapshot of the folder, which is made if need be: who looked later at
    the memory writes later. ``clock`` counts seconds. Raises MemoryUnusable, and SnapshotBusy where
    another one does not end within 3 s."""
    target = replace(memory, path=folder)
    descriptor = _opened(folder, target)
    try:
        end = clock() + _WAIT_S
        while not _is_locked(descriptor, target):
            if clock() >= end:
                raise SnapshotBusy(folder, holders_of(folder))
            await sleep(_AGAIN_S)
        _tidy(folder, target)
        yield
    finally:
        os.close(descriptor)


def _opened(folder: Path, target: Source) -> int:
    with translated(target):
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _tidy(folder: Path, target: Source) -> None:
    """Remove what somebody left who died over it: nobody else is here now."""
    with translated(target):
        for left in folder.glob(f".{SNAPSHOT_FILE}.*"):
            left.unlink()


def _is_locked(descriptor: int, target: Source) -> bool:
    """Whether the lock is ours now. It is not waited for: its holder may be stopped. Raises
    MemoryUnusable."""
    with translated(target):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def keep(data: bytes, folder: Path, memory: Source) -> Path:
    """Write ``data`` to the folder, in place of what is there, with the key of the ``memory``; the
    file. Who dies meanwhile leaves the one before. Called by who is ``alone``. Raises MemoryFull,
    MemoryUnusable, SnapshotTooLarge."""
    target = replace(memory, path=folder.absolute() / SNAPSHOT_FILE)
    if len(data) > LARGEST // 2:
        # Half: where it is encrypted, pages and their digests come to it.
        raise SnapshotTooLarge(path=target.path, found=len(data), most=LARGEST // 2)
    with translated(target), partial(target) as unfinished:
        unfinished.make()
        if target.key is None:
            unfinished.path.write_bytes(data)
        else:
            _encrypt(data, unfinished)
        sync(unfinished.path)
        unfinished.path.replace(target.path)
        sync(folder)
    return target.path


def kept(folder: Path, memory: Source) -> tuple[Path, bytes]:
    """The file in a folder, and what was given to ``keep``, of a damaged one its beginning.

    Raises SnapshotMissing, SnapshotEncrypted, MemoryKey, SnapshotUnreadable, MemoryUnusable.
    """
    source = replace(memory, path=folder.absolute() / SNAPSHOT_FILE)
    with translated(source):
        try:
            beginning = read_regular(source.path, len(MAGIC))
        except FileNotFoundError:
            raise SnapshotMissing(path=source.path) from None
        if beginning == MAGIC:
            return source.path, read_regular(source.path)
    if source.key is None:
        raise SnapshotEncrypted(path=source.path)
    return source.path, _decrypted(source)


def stamp(folder: Path, memory: Source) -> tuple[int, int, int] | None:
    """What tells the file in a folder from any that took its place; None if there is none. Raises
    MemoryUnusable."""
    with translated(replace(memory, path=folder)):
        try:
            found = (folder / SNAPSHOT_FILE).stat()
        except FileNotFoundError:
            return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _encrypt(data: bytes, source: Source) -> None:
    with closing(source.connect()) as connection:
        # The file is new, and nobody reads it before it has another name.
        connection.execute("PRAGMA journal_mode = OFF").fetchone()
        connection.execute("BEGIN")
        parts = {
            f"pieces_{at // (_ROWS * _PIECE):06}": data[at : at + _ROWS * _PIECE]
            for at in range(0, len(data), _ROWS * _PIECE)
        }
        for table in parts:
            connection.execute(
                f"CREATE TABLE {table} (number INTEGER PRIMARY KEY, data BLOB NOT NULL)"
            )
        for table, part in parts.items():
            connection.executemany(
                f"INSERT INTO {table} (data) VALUES (?)",
                ((part[at : at + _PIECE],) for at in range(0, len(part), _PIECE)),
            )
        connection.execute("COMMIT")


def _decrypted(source: Source) -> bytes:
    data = bytearray()
    try:
        with translated(source), closing(source.connect(cut=True)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_master ORDER BY name")
            tables = [str(row["name"]) for row in rows]
            ours = tables == [_FIRST_FORM] or all(map(_TABLE.fullmatch, tables))
            if not (tables and ours):
                raise SnapshotUnreadable(path=source.path, reason="it is another database")
            for table in tables:
                for row in connection.execute(f"SELECT data FROM {table} ORDER BY number"):
                    data += row["data"]
    except (MemoryKey, SnapshotUnreadable):
        raise
    except MemoryProblem as error:
        # What could be read has no end, and is reported with what is whole of it.
        if not data:
            raise SnapshotUnreadable(path=source.path, reason=str(error)) from error
    return bytes(data)
