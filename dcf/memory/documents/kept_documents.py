"""What every store of documents does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dcf.documents import ReadDocument
from dcf.memory.actor import Actor
from dcf.memory.document import ALL_PIECES, Document, DocumentPiece, PieceChoice
from dcf.memory.documents.kept_document import FileState


class KeptDocuments(Protocol):
    """Documents of projects, each named by its folder: one for each file. They are what files say,
    so they have no history: a file that is read again is the way back. ``by`` is who changes them,
    for the record of a store that has one."""

    async def keep(
        self, project: str, path: str, file: FileState, read: ReadDocument, *, by: Actor
    ) -> Document:
        """Keep what a file says, in place of what it said before, all of it or nothing; its id
        stays. Secrets are taken out; a ``path`` that holds one is refused. Raises InvalidEntry."""

    async def confirm(self, document_id: str, stamp: str, *, by: Actor) -> None:
        """Note that a file with another ``stamp`` has the same content."""

    async def remove(self, document_id: str, *, by: Actor) -> Document:
        """Give a document up. Raises UnknownDocument."""

    async def get(self, name: str, *, project: str | None = None) -> Document:
        """The document with this id, or the one of ``project`` with this path. Raises
        UnknownDocument."""

    async def list(
        self, project: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[Document, ...]:
        """The documents of ``project`` (None: of all), by their paths."""

    async def states(self, project: str) -> Mapping[str, tuple[str, FileState]]:
        """The id and the state of each file of ``project`` that is kept, by its path; those that
        were read otherwise than today have no stamp and no digest."""

    async def pieces(
        self, document: Document, chosen: PieceChoice = ALL_PIECES
    ) -> tuple[DocumentPiece, ...]:
        """The chosen pieces of a document in their order. Raises UnknownPlace where there are none
        on the page, or with the lines."""
