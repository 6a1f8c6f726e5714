"""Reading files that anybody may have put there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
LARGEST = 268_435_456
"""Bytes (256 MiB): what is larger is no file of ours, and would not fit into memory as values."""


def read_regular(path: Path, most: int | None = None) -> bytes:
    """The bytes of the file at ``path``, links followed; of a longer one the first ``most``.

    Raises ``OSError``, also for what is no regular file: a pipe, a device or a socket would hold
    the reader for ever, or never end. Without ``most``, a file above ``LARGEST`` is refused too.
    """
    with open(path, "rb", opener=_opened) as stream:
        status = os.fstat(stream.fileno())
        kind, size = status.st_mode, status.st_size
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        if most is not None:
            return stream.read(most)
        data = stream.read(LARGEST + 1) if size <= LARGEST else b""
        if size > LARGEST or len(data) > LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return data


def open_below(root: Path, path: str) -> int:
    """A descriptor of the file at ``path`` below the folder ``root``. No link is followed on the
    way, so nothing outside of the root is opened, whoever changes it meanwhile. Raises
    ``OSError``."""
    *folders, name = path.split("/")
    folder = os.open(root, _FOLDER)
    try:
        for one in folders:
            inner = os.open(one, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _opened(path: str, flags: int) -> int:
    # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
