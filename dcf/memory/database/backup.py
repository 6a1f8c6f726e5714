"""Backups of a memory file, and the way back from them."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from dcf.memory.database.connection import Connection, Source, translated
from dcf.memory.database.copying import copy, copy_with_key, files_of, partial, sync
from dcf.memory.database.errors import BackupExists, MemoryCorrupt, MemoryUnusable
from dcf.memory.database.integrity import damage
from dcf.memory.database.migration import is_empty, migrate
from dcf.memory.database.users import Use
from dcf.memory.errors import MemoryProblem


def back_up(connection: Connection, source: Source, to: Path, *, overwrite: bool = False) -> Path:
    """Copy the memory file of ``connection`` to ``to``, with its key, while others write to it.

    ``to`` is there whole or not at all. Raises BackupExists, MemoryFull, MemoryUnusable.
    """
    target = replace(source, path=to)
    with translated(target):
        if to.exists() and (not overwrite or not to.is_file()):
            raise BackupExists(path=to)
        if _same(source.path, to):
            raise MemoryUnusable(path=to, reason="it is the memory file itself")
        with partial(target) as unfinished:
            copy(connection, unfinished)
            _place(unfinished.path, to, overwrite)
    return to


def restore(backup: Path, source: Source, *, aside: str) -> Path | None:
    """Put the content of ``backup`` in place of the memory file.

    The backup has the key of ``source``, is checked first, and stays as it is. The replaced file is
    kept beside as ``NAME.aside``: its path, None if there was none. Raises MemoryInUse while a
    process has the file open, MemoryCorrupt, MemoryKey, MemoryTooNew, MemoryForeign of the backup.
    """
    origin = replace(source, path=backup)
    with translated(source):
        if not backup.is_file():
            raise MemoryUnusable(path=backup, reason="there is no such file")
        if _same(source.path, backup):
            raise MemoryUnusable(path=backup, reason="it is the memory file itself")
        source.path.parent.mkdir(parents=True, exist_ok=True)
        with Use(source.path, alone=True), partial(source) as unfinished:
            _checked_copy(origin, unfinished)
            return _exchange(unfinished.path, source, aside)


def rekey(source: Source, key: str | None, *, aside: str) -> Source:
    """Give the memory file another key (None: none, and it can be read by anybody).

    The file with the old key is kept beside as ``NAME.aside`` until the caller removes it. Returns
    how the file is opened from now on. Raises MemoryInUse, MemoryKey, CipherMissing.
    """
    changed = replace(source, key=key)
    with translated(source):
        if not source.path.is_file():
            raise MemoryUnusable(path=source.path, reason="there is no such file")
        with Use(source.path, alone=True), partial(changed) as unfinished:
            with closing(source.connect(cipher=True)) as connection:
                copy_with_key(connection, unfinished)
            _refuse_damaged(unfinished)
            _exchange(unfinished.path, source, aside)
    return changed


def _checked_copy(origin: Source, unfinished: Source) -> None:
    """Read the backup through a copy: opening it as it is would write beside it."""
    with translated(origin), closing(origin.connect()) as connection:
        copy(connection, unfinished)
    with translated(origin), closing(unfinished.connect()) as connection:
        found = damage(connection)
        if found:
            raise MemoryCorrupt(path=origin.path, reason=found[0])
        if is_empty(connection):
            raise MemoryCorrupt(path=origin.path, reason="it is empty")
        migrate(connection, origin.path)


def _refuse_damaged(source: Source) -> None:
    with translated(source), closing(source.connect()) as connection:
        found = damage(connection)
    if found:
        raise MemoryCorrupt(path=source.path, reason=found[0])


def _exchange(new: Path, source: Source, aside: str) -> Path | None:
    path = source.path
    kept = path.with_name(f"{path.name}.{aside}")
    if any(file.exists() for file in files_of(kept)):
        raise BackupExists(path=kept)
    there = path.exists()
    if there:
        _keep(source, kept)
    new.replace(path)
    sync(path.parent)
    return kept if there else None


def _keep(source: Source, kept: Path) -> None:
    """Give the file another name too, with what a process that died left beside it: that belongs to
    it, and not to the one that takes its place."""
    files, names = files_of(source.path), files_of(kept)
    for file, name in zip(files, names, strict=True):
        with suppress(FileNotFoundError):
            os.link(file, name)
    # Into the file with it, if that can be read: who dies after the next lines leaves a file that
    # has lost nothing.
    with suppress(MemoryProblem), translated(source), closing(source.connect()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    for file in files[1:]:
        file.unlink(missing_ok=True)


def _place(unfinished: Path, to: Path, overwrite: bool) -> None:
    if overwrite:
        unfinished.replace(to)
    else:
        try:
            # Unlike a rename, it never replaces what somebody put there meanwhile.
            os.link(unfinished, to)
        except FileExistsError as error:
            raise BackupExists(path=to) from error
    sync(to.parent)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
