"""Documents of many formats, read as pieces of text that say where they stand.

``Reader`` reads files in a process of its own, within bounds; ``documents_in`` says which files of
a folder are documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.documents.errors import DocumentProblem, UnknownFormat
    from dcf.documents.file import (
        ENDINGS,
        FORMATS,
        LARGEST,
        DocumentFile,
        documents_in,
        format_of,
        links_out_of,
        opened_document,
    )
    from dcf.documents.piece import ReadDocument, ReadPiece
    from dcf.documents.reader import READER, Reader
    from dcf.documents.worker import ResourceLimits
else:
    export_late(__name__)

__all__ = [
    "ENDINGS",
    "FORMATS",
    "LARGEST",
    "READER",
    "DocumentFile",
    "DocumentProblem",
    "ReadDocument",
    "ReadPiece",
    "Reader",
    "ResourceLimits",
    "UnknownFormat",
    "documents_in",
    "format_of",
    "links_out_of",
    "opened_document",
]
