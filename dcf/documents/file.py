"""The bytes of a document, read without following a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dcf.documents.errors import NoRegularFile, TooLarge
from dcf.documents.limits import LARGEST
from dcf.regular_file import open_below


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """An open file, and what the system says of it."""

    descriptor: int
    status: os.stat_result

    def data(self) -> bytes:
        """Its bytes. Raises TooLarge, OSError."""
        if self.status.st_size > LARGEST:
            raise TooLarge(size=self.status.st_size, most=LARGEST)
        with os.fdopen(os.dup(self.descriptor), "rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise TooLarge(size=len(data), most=LARGEST)
        return data


@contextmanager
def opened_document(root: Path, path: str) -> Iterator[DocumentFile]:
    """The file at ``path`` below ``root``. Raises NoRegularFile, OSError, also for a link."""
    descriptor = open_below(root, path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NoRegularFile()
        yield DocumentFile(descriptor, status)
    finally:
        os.close(descriptor)
