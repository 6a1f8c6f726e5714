"""What agents share beside their runs: JSON documents under a prefix, files under a root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.workspace.confined import ConfinedRoot
    from dcf.workspace.document_key import DEFAULT_PREFIX, DocumentKeys
    from dcf.workspace.document_path import parse_path, show_path
    from dcf.workspace.errors import FileRefused, WorkspaceError
    from dcf.workspace.file_results import (
        Content,
        Entry,
        Listing,
        Made,
        Moved,
        Removed,
        Written,
    )
    from dcf.workspace.files import Files
    from dcf.workspace.json_documents import Document, JsonDocuments
else:
    export_late(__name__)

__all__ = [
    "DEFAULT_PREFIX",
    "ConfinedRoot",
    "Content",
    "Document",
    "DocumentKeys",
    "Entry",
    "FileRefused",
    "Files",
    "JsonDocuments",
    "Listing",
    "Made",
    "Moved",
    "Removed",
    "WorkspaceError",
    "Written",
    "parse_path",
    "show_path",
]
