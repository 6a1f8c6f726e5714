"""Which processes have a memory file open: each holds a shared lock on a file beside it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Self

from dcf.memory.database.errors import MemoryInUse

SUFFIX = ".lock"


class Use:
    """This process's claim on the file: shared by all who use it, or alone to replace it.

    A lock of its own, not SQLite's: those come and go with each transaction. The system gives it
    back when a process dies, however it dies.
    """

    def __init__(self, path: Path, *, alone: bool = False) -> None:
        """Raises MemoryInUse at once if that cannot be, with the processes in the way."""
        self._descriptor = os.open(_beside(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(
                self._descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB
            )
        except BlockingIOError as error:
            os.close(self._descriptor)
            raise MemoryInUse(path, users_of(path)) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Give the claim up."""
        os.close(self._descriptor)


def users_of(path: Path) -> tuple[int, ...]:
    """Ids of the processes that have the memory file open, as far as the system tells."""
    return holders_of(_beside(path))


def holders_of(lock: Path) -> tuple[int, ...]:
    """Ids of the processes that hold a lock on this file or folder, as far as the system tells."""
    table = Path("/proc/locks")
    if not lock.exists() or not table.exists():
        return ()
    inode = str(lock.stat().st_ino)
    found = set()
    for line in table.read_text(encoding="ascii").splitlines():
        # 1: FLOCK  ADVISORY  WRITE 30273 fe:00:2367805 0 EOF; one that waits has "->" before FLOCK.
        words = line.split()
        if words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode:
            found.add(int(words[4]))
    return tuple(sorted(found))


def _beside(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)
