"""Documents, kept in step with their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.documents.documents import Documents
    from dcf.memory.documents.errors import UnknownDocument, UnknownPlace, demand_pieces
    from dcf.memory.documents.files import DocumentFiles, DocumentReport
    from dcf.memory.documents.kept_document import (
        FileState,
        KeptDocument,
        document_of,
        piece_of,
        state_of,
    )
    from dcf.memory.documents.kept_documents import KeptDocuments
    from dcf.memory.documents.refusals import Refusals
else:
    export_late(__name__)

__all__ = [
    "DocumentFiles",
    "DocumentReport",
    "Documents",
    "FileState",
    "KeptDocument",
    "KeptDocuments",
    "Refusals",
    "UnknownDocument",
    "UnknownPlace",
    "demand_pieces",
    "document_of",
    "piece_of",
    "state_of",
]
