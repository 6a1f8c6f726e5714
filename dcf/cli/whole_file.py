"""Files that a command writes: there whole at the end, or not at all, and their owner alone can
read them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
"""What file systems without hard links answer, FAT and some mounts of other machines."""


@contextmanager
def whole_file(file: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A stream whose bytes become ``file`` at the end of the block; nothing is left of a block that
    raises. A device or a pipe is written to as it is, and of a link that is overwritten what it
    links to. Raises FileExistsError when somebody made the file meanwhile and it is not to be
    overwritten, else OSError; both name ``file``."""
    try:
        if file.exists() and (not file.is_file() or _is_open_file(file)):
            with file.open("wb") as stream:
                yield stream
            return
        target = file.resolve() if overwrite else file
        target.parent.mkdir(parents=True, exist_ok=True)
        with _draft(target) as draft:
            yield draft
            draft.flush()
            os.fsync(draft.fileno())
            if overwrite:
                Path(draft.name).replace(target)
            else:
                _place(Path(draft.name), target)
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(file)) from error


def _place(draft: Path, target: Path) -> None:
    """Make ``draft`` the new file ``target``, in nobody's place. Raises FileExistsError."""
    try:
        # Unlike a rename it replaces nothing.
        os.link(draft, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Who dies before the rename leaves an empty file.
        target.touch(exist_ok=False)
        try:
            draft.replace(target)
        except OSError:
            target.unlink()
            raise


def _is_open_file(file: Path) -> bool:
    """Whether it names what a process has open, as ``/dev/stdout`` does. What stands in the shared
    memory is a file like any other."""
    where = file.absolute()
    if where.is_relative_to("/dev/shm"):
        return False
    return any(where.is_relative_to(folder) for folder in ("/dev", "/proc"))


@contextmanager
def _draft(file: Path) -> Iterator[IO[bytes]]:
    with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as stream:
        try:
            yield stream
        finally:
            Path(stream.name).unlink(missing_ok=True)
