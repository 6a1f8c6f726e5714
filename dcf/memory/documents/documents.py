"""Documents: what files said, in pieces that are found and cited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from dcf.documents import ReadDocument, ReadPiece
from dcf.memory.actor import Actor
from dcf.memory.audit.entity import Row
from dcf.memory.audit.journal import Journal
from dcf.memory.database import Connection
from dcf.memory.document import ALL_PIECES, Document, DocumentPiece, PieceChoice
from dcf.memory.documents.errors import UnknownDocument, demand_pieces
from dcf.memory.documents.kept_document import (
    FileState,
    KeptDocument,
    document_of,
    document_row,
    piece_of,
    piece_rows,
    state_of,
)
from dcf.memory.entities import DOCUMENT, DOCUMENT_PIECE
from dcf.memory.ledger import Ledger
from dcf.memory.search.indexing import forget_old, index_new


class Documents:
    """Documents in the memory (see ``KeptDocuments``)."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def keep(
        self, project: str, path: str, file: FileState, read: ReadDocument, *, by: Actor
    ) -> Document:
        """Keep what a file says, in place of what it said before; its id stays. Raises
        InvalidEntry."""
        return await self._ledger.change(
            by, lambda journal: _keep(journal, project, path, file, read)
        )

    async def take(self, known: KeptDocument, *, by: Actor) -> bool:
        """Keep a document of another place as it is there, its id and times too, unless its file
        or its id has one here; whether it was kept."""
        return await self._ledger.change(by, lambda journal: _take(journal, known))

    async def confirm(self, document_id: str, stamp: str, *, by: Actor) -> None:
        """Note that a file with another ``stamp`` has the same content."""

        def work(journal: Journal) -> None:
            row = DOCUMENT.find(journal.connection, document_id)
            if row is not None:
                DOCUMENT.replace(journal.connection, {**row, "stamp": stamp}, row)

        await self._ledger.change(by, work)

    async def remove(self, document_id: str, *, by: Actor) -> Document:
        """Give a document up. Raises UnknownDocument."""
        return await self._ledger.change(by, lambda journal: _remove(journal, document_id))

    async def get(self, name: str, *, project: str | None = None) -> Document:
        """The document with this id, or the one of ``project`` with this path. Raises
        UnknownDocument."""
        row = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM documents WHERE id = ?1 OR (path = ?1 AND project = ?2)"
                " ORDER BY id = ?1 DESC LIMIT 1",
                (name, project),
            ).fetchone()
        )
        if row is None:
            raise UnknownDocument(name=name)
        return document_of(dict(row))

    async def list(
        self, project: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[Document, ...]:
        """The documents of ``project`` (None: of all), by their paths."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM documents WHERE ?1 IS NULL OR project = ?1"
                " ORDER BY project, path LIMIT ?2 OFFSET ?3",
                (project, max(limit, 0), max(offset, 0)),
            ).fetchall()
        )
        return tuple(document_of(dict(row)) for row in rows)

    async def states(self, project: str) -> Mapping[str, tuple[str, FileState]]:
        """The id and the state of each file of ``project`` that is kept, by its path; those that
        were read otherwise than today have no stamp and no digest."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT path, id, size, stamp, digest, reader FROM documents WHERE project = ?",
                (project,),
            ).fetchall()
        )
        return {row["path"]: (row["id"], state_of(row)) for row in rows}

    async def files(self, project: str, document_ids: Sequence[str]) -> Mapping[str, FileState]:
        """The states in which the files of these documents were when they were read, by their ids;
        without those that are there no more."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT id, size, stamp, digest FROM documents"
                " WHERE project = ? AND id IN (SELECT value FROM json_each(?))",
                (project, json.dumps(list(document_ids))),
            ).fetchall()
        )
        return {row["id"]: FileState(row["size"], row["stamp"], row["digest"]) for row in rows}

    async def pieces(
        self, document: Document, chosen: PieceChoice = ALL_PIECES
    ) -> tuple[DocumentPiece, ...]:
        """The chosen pieces of a document in their order. Raises UnknownPlace where there are none
        on the page, or with the lines."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM searched_pieces WHERE document_id = ?1"
                " AND (?2 IS NULL OR page = ?2)"
                " AND (?3 IS NULL OR (last_line >= ?3 AND first_line <= ?4))"
                " ORDER BY seq LIMIT ?5 OFFSET ?6",
                (
                    *(document.id, chosen.page, *(chosen.lines or (None, None))),
                    *(chosen.limit, chosen.offset),
                ),
            ).fetchall()
        )
        demand_pieces(rows, document, chosen)
        return tuple(piece_of(dict(row)) for row in rows)

    async def several(self, refs: Sequence[str]) -> tuple[DocumentPiece, ...]:
        """The pieces that a search found under these ids, in this order; without those that are
        there no more."""
        rows = await self._ledger.read(
            lambda connection: connection.execute(
                "SELECT * FROM searched_pieces WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(refs)),),
            ).fetchall()
        )
        found = {row["id"]: piece_of(dict(row)) for row in rows}
        return tuple(found[ref] for ref in refs if ref in found)


def _keep(
    journal: Journal, project: str, path: str, file: FileState, read: ReadDocument
) -> Document:
    connection = journal.connection
    found = connection.execute(
        "SELECT * FROM documents WHERE project = ? AND path = ?", (project, path)
    ).fetchone()
    document_id = journal.new_id("document") if found is None else found["id"]
    row = document_row(document_id, project, path, file, read, journal.at)
    if found is None:
        row = DOCUMENT.insert(connection, row)
    else:
        _drop_pieces(connection, row["id"])
        row = DOCUMENT.replace(connection, {**row, "added_at": found["added_at"]}, dict(found))
    _keep_pieces(connection, row["id"], read.pieces)
    return document_of(row)


def _take(journal: Journal, known: KeptDocument) -> bool:
    connection, one = journal.connection, known.document
    there = connection.execute(
        "SELECT 1 FROM documents WHERE id = ? OR (project = ? AND path = ?)",
        (one.id, one.project, one.path),
    ).fetchone()
    if there is not None:
        return False
    DOCUMENT.insert(connection, known.row)
    _keep_pieces(connection, one.id, known.pieces)
    return True


def _keep_pieces(connection: Connection, document_id: str, pieces: Sequence[ReadPiece]) -> None:
    for piece in piece_rows(document_id, pieces):
        DOCUMENT_PIECE.insert(connection, piece)
    index_new(connection, "document", _searched(connection, document_id))


def _remove(journal: Journal, document_id: str) -> Document:
    row = DOCUMENT.find(journal.connection, document_id)
    if row is None:
        raise UnknownDocument(name=document_id)
    _drop_pieces(journal.connection, document_id)
    DOCUMENT.delete(journal.connection, row)
    return document_of(row)


def _drop_pieces(connection: Connection, document_id: str) -> None:
    forget_old(connection, "document", _searched(connection, document_id))
    connection.execute("DELETE FROM document_pieces WHERE document_id = ?", (document_id,))


def _searched(connection: Connection, document_id: str) -> list[Row]:
    """The rows of pieces as they are searched."""
    rows = connection.execute(
        "SELECT * FROM searched_pieces WHERE document_id = ? ORDER BY seq", (document_id,)
    )
    return [dict(row) for row in rows]
