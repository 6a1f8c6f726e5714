"""Reading files that anybody may have put there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_regular(path: Path, most: int | None = None) -> bytes:
    """The bytes of the file at ``path``, links followed; of a longer one the first ``most``.

    Raises ``OSError``, also for what is no regular file: a pipe, a device or a socket would hold
    the reader for ever, or never end.
    """
    # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return stream.read() if most is None else stream.read(most)
