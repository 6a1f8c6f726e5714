"""A folder that appears whole: written beside its place, then moved there."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

# An archive has inputs and results of others: it is nobody else's business.
_MODE = 0o700


@asynccontextmanager
async def replaced(place: Path) -> AsyncIterator[Path]:
    """An empty folder that takes the place of the folder ``place`` when the block ends, and is
    removed when it raises. What an earlier process left behind when it was killed is put right.
    Raises BlockingIOError when somebody else is writing there, OSError."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part, old = (place.with_name(f".{place.name}.{kind}") for kind in ("part", "old"))
    with _sole_writer(place.with_name(f".{place.name}.lock")):
        _put_right(place, part, old)
        part.mkdir(mode=_MODE)
        try:
            yield part
            _exchange(place, part, old)
        finally:
            _remove(part)


def write_json(file: Path, value: Any) -> None:
    """Write ``value`` for people to read."""
    write_text(file, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(file: Path, text: str) -> None:
    """Write ``text``; half surrogates, which JSON may hold and no file, become question marks."""
    file.parent.mkdir(exist_ok=True, mode=_MODE)
    file.write_text(text, encoding="utf-8", errors="replace")


def _put_right(place: Path, part: Path, old: Path) -> None:
    # Killed in the middle of the exchange: the old one is still all there is.
    if _is_there(old) and not _is_there(place):
        old.rename(place)
    _remove(old)
    _remove(part)


def _exchange(place: Path, part: Path, old: Path) -> None:
    if _is_there(place):
        place.rename(old)
    part.rename(place)
    _remove(old)


@contextmanager
def _sole_writer(lock: Path) -> Iterator[None]:
    descriptor = _locked(lock)
    try:
        yield
    finally:
        # While it is still held: whoever waits for this file sees that it is gone.
        lock.unlink()
        os.close(descriptor)


def _locked(lock: Path) -> int:
    """The file ``lock``, held by this process. Raises BlockingIOError."""
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            # Not waited for: that would stop all else that this process does.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except OSError:
            os.close(descriptor)
            raise
        # Removed by whoever held it since it was opened: the next has another file.
        os.close(descriptor)


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
