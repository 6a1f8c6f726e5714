"""Whole copies of a memory file, while others write to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from dcf.memory.database.connection import Connection, Source, quoted
from dcf.memory.database.migration import APPLICATION_ID, version_of


def copy(connection: Connection, to: Source) -> None:
    """Copy the file of ``connection``, as it is at one moment, to ``to``, which has the same key.

    All pages at once: who writes meanwhile is not held up, and does not make it start again.
    """
    to.make()
    target = to.connect()
    try:
        connection.backup(target)
        _alone(target)
    finally:
        target.close()
    sync(to.path)


def copy_with_key(connection: Connection, to: Source) -> None:
    """The same with another key, or none. ``connection`` is of sqlcipher3."""
    to.make()
    connection.execute(
        f"ATTACH DATABASE {quoted(str(to.path))} AS other KEY {quoted(to.key or '')}"
    )
    try:
        connection.execute("PRAGMA other.auto_vacuum = INCREMENTAL")
        connection.execute("SELECT sqlcipher_export('other')").fetchone()
        connection.execute(f"PRAGMA other.application_id = {APPLICATION_ID:d}")
        connection.execute(f"PRAGMA other.user_version = {version_of(connection):d}")
    finally:
        connection.execute("DETACH DATABASE other")
    sync(to.path)


@contextmanager
def partial(source: Source) -> Iterator[Source]:
    """A file beside ``source`` to be written and then moved; what is left of it is removed."""
    name = f".{source.path.name}.{uuid4().hex}"
    unfinished = replace(source, path=source.path.with_name(name))
    try:
        yield unfinished
    finally:
        for file in files_of(unfinished.path):
            file.unlink(missing_ok=True)


def files_of(path: Path) -> tuple[Path, ...]:
    """The file, and those that SQLite keeps beside it while it is used."""
    return tuple(path.with_name(path.name + end) for end in ("", "-wal", "-shm", "-journal"))


def _alone(connection: Connection) -> None:
    """Put everything into the one file."""
    connection.execute("PRAGMA journal_mode = DELETE").fetchone()


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
