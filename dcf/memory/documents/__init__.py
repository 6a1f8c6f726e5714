"""Documents, kept in step with their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.documents.documents import Documents, FileState
    from dcf.memory.documents.errors import UnknownDocument, UnknownPlace
    from dcf.memory.documents.files import DocumentFiles, DocumentReport
else:
    export_late(__name__)

__all__ = [
    "DocumentFiles",
    "DocumentReport",
    "Documents",
    "FileState",
    "UnknownDocument",
    "UnknownPlace",
]
