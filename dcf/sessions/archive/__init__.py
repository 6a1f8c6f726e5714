"""The archive of a session: a folder that tells all of it, without Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.sessions.archive.archive import write_archive
    from dcf.sessions.archive.redacting import clean
else:
    export_late(__name__)

__all__ = ["clean", "write_archive"]
