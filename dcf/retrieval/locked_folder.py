"""A folder that any number of processes of one machine use, under a lock."""

from __future__ import annotations

import fcntl
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dcf.retrieval.errors import FolderUnusable

_LOCK, _NEXT = "lock", ".next.draft"
_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class LockedFolder:
    """The folder at ``path``, for its owner alone. Its file ``lock`` is what is locked, and has a
    number that says when others have to read anew. Methods raise OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def make(self) -> None:
        """Make it, if it is missing."""
        if self.path.is_dir():
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700, exist_ok=True)
        sync_names(self.path.parent)

    @contextmanager
    def reading(self) -> Iterator[int]:
        """While nobody writes; the descriptor of the file ``lock``."""
        with self._locked(fcntl.LOCK_SH) as lock:
            yield lock

    @contextmanager
    def writing(self) -> Iterator[int]:
        """While nobody else reads or writes; the descriptor of the file ``lock``."""
        with self._locked(fcntl.LOCK_EX) as lock:
            yield lock

    def append(self, lines: Iterable[tuple[str, bytes]], *, durable: bool = True) -> None:
        """Append each line to the file that it comes with, all or none; ``durable`` ones are on
        the disk then. Nobody else may write meanwhile."""
        texts: defaultdict[str, list[bytes]] = defaultdict(list)
        for name, line in lines:
            texts[name].append(line)
        opened: list[tuple[int, int]] = []
        try:
            for name, some in texts.items():
                descriptor = os.open(self.path / name, _APPEND, 0o600)
                size = os.fstat(descriptor).st_size
                opened.append((descriptor, size))
                # Who was killed left half of a line: nothing is glued to it.
                if size > 0 and os.pread(descriptor, 1, size - 1) != b"\n":
                    some.insert(0, b"\n")
                _write_all(descriptor, b"".join(some))
                if durable:
                    os.fsync(descriptor)
            if not all(size for _, size in opened):
                sync_names(self.path)
        except OSError:
            # The disk may be full: what half of a line would be is not there.
            for descriptor, size in opened:
                os.ftruncate(descriptor, size)
            raise
        finally:
            for descriptor, _ in opened:
                os.close(descriptor)

    def replace(self, name: str, parts: Iterable[bytes]) -> None:
        """Have a file of these parts on the disk: whole, or as it was."""
        # Who was killed left one draft at most: whoever writes next writes over it.
        draft = self.path / _NEXT
        descriptor = os.open(draft, _DRAFT, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(parts)
                stream.flush()
                os.fsync(descriptor)
        except OSError:
            # The disk may be full.
            draft.unlink()
            raise
        draft.replace(self.path / name)
        sync_names(self.path)

    def drop_draft(self) -> None:
        """Leave no byte of what somebody wrote who died over it."""
        (self.path / _NEXT).unlink(missing_ok=True)

    @contextmanager
    def _locked(self, kind: int) -> Iterator[int]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.path / _LOCK, flags, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            yield descriptor
        finally:
            os.close(descriptor)


def number_in(lock: int) -> int:
    """The number in the file ``lock``; 0 where somebody wrote something else."""
    said = os.pread(lock, 32, 0).strip()
    return int(said) if said.isdigit() else 0


def raise_number(lock: int) -> int:
    """Have another one; which."""
    number = number_in(lock) + 1
    os.pwrite(lock, b"%d\n" % number, 0)
    return number


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Raises FolderUnusable where an OSError is raised inside."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise FolderUnusable(folder=where, reason=error.strerror or error) from error


def sync_names(path: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
