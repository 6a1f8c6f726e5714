"""Writing a file so that a reader sees the old content or the new, never half of it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from dcf.workspace.confined import Place
from dcf.workspace.errors import FileRefused

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o666
"""Less what the process's umask takes away."""


def replace(place: Place, data: bytes, beside: str) -> None:
    """Put ``data`` in the place of the file; ``beside`` is the name under which it is written
    first."""
    present = place.look()
    try:
        descriptor = os.open(beside, _NEW, _MODE, dir_fd=place.folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if present is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(present.st_mode) & 0o777)
            os.fsync(file.fileno())
        os.replace(beside, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=place.folder)
        raise


def append(place: Place, data: bytes, limit: int) -> None:
    """Add ``data`` at the end of the file, which is made if it is missing. Raises FileRefused
    ``too_large`` when it would grow over ``limit`` bytes."""
    descriptor = os.open(place.name, _APPEND, _MODE, dir_fd=place.folder)
    with os.fdopen(descriptor, "ab") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused("not_a_file", f"{place.name!r} is no file")
        if found.st_size + len(data) > limit:
            raise FileRefused("too_large", f"a file may have at most {limit} bytes")
        file.write(data)
