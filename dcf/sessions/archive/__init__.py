"""The archive of a session: a folder that tells all of it, without Redis."""

from __future__ import annotations

from dcf.sessions.archive.archive import write_archive
from dcf.sessions.archive.redacting import clean

__all__ = ["clean", "write_archive"]
