"""What stands in a file: itself, or the members of an archive, read piece by piece."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dcf.memory.threads.readers.tally import Tally

CHUNK = 1_048_576
MEMBERS = 10_000
"""Members of an archive that are read."""
UNPACKED = 4_294_967_296
"""Bytes that the members of an archive have together: what says that it has more is not read."""
RATIO = 1_000
"""Times that a member may be larger than it is packed; texts reach a hundred."""

_ZIP = b"PK\x03\x04"
_READ = (".json", ".jsonl", ".txt", ".log", ".xml", ".md")


@dataclass(frozen=True, slots=True)
class Content:
    """A file, or a member of an archive; ``path`` is its name for people and readers."""

    path: Path
    stream: IO[bytes]
    size: int

    def chunks(self) -> Iterator[bytes]:
        """As much as there was when it was opened: what is written meanwhile is read next time."""
        rest = self.size
        while rest > 0 and (chunk := self.stream.read(min(CHUNK, rest))):
            rest -= len(chunk)
            yield chunk


@contextmanager
def opened(path: Path, *, follow: bool) -> Iterator[Content]:
    """The regular file at ``path``; unless ``follow``, no link. Raises OSError."""
    # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        yield Content(path, stream, status.st_size)


def contents(content: Content, tally: Tally) -> Iterator[Content]:
    """``content`` itself, or the members of the archive that it is. Nothing is extracted; an
    archive above the limits is reported."""
    begun = content.stream.read(len(_ZIP))
    content.stream.seek(0)
    if begun != _ZIP:
        yield content
        return
    try:
        with zipfile.ZipFile(content.stream) as archive:
            yield from _members(content.path, archive, tally)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        tally.report("transcript-archive", f"the archive cannot be read: {error}", cut=True)


def _members(path: Path, archive: zipfile.ZipFile, tally: Tally) -> Iterator[Content]:
    members = [one for one in archive.infolist() if not one.is_dir()]
    unpacked = sum(one.file_size for one in members)
    if len(members) > MEMBERS or unpacked > UNPACKED:
        message = f"the archive has {len(members):,} members of {unpacked:,} bytes together"
        hint = f"it may have {MEMBERS:,} of {UNPACKED:,}: unpack what is wanted, and name that"
        tally.report("transcript-archive", message, hint=hint)
        return
    for one in members:
        if not one.filename.endswith(_READ):
            tally.leave_out("member of the archive")
        elif one.file_size > RATIO * max(one.compress_size, 1):
            message = f"{one.filename} is {one.file_size:,} bytes, packed {one.compress_size:,}"
            tally.report(
                "transcript-archive", message, hint=f"above 1 to {RATIO:,} nothing is read"
            )
        else:
            with archive.open(one) as stream:
                # The name is told, never a place to write to.
                yield Content(path / one.filename.lstrip("/"), stream, one.file_size)
