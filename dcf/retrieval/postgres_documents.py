"""Documents in a PostgreSQL database, which several services may share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dcf.documents import ReadDocument
from dcf.memory import (
    ALL_PIECES,
    Actor,
    Clock,
    Document,
    DocumentPiece,
    FileState,
    KeptDocument,
    NewId,
    PieceChoice,
    UnknownDocument,
    demand_pieces,
    document_of,
    piece_of,
    state_of,
)
from dcf.retrieval.backend import DocumentHit
from dcf.retrieval.item import text_faults
from dcf.retrieval.postgres_search import MEANT, Meanings, asked, fused, told
from dcf.retrieval.postgres_store import DURABLE, PostgresStore
from dcf.search import Embedder, words

# Of two who keep the same file at once, one waits here for the other.
_INSERT = """
INSERT INTO dcf_documents (id, project, path, title, format, size, stamp, digest, reader, pages,
  pieces, problems, added_at, read_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
"""
_TAKE = f"{_INSERT} ON CONFLICT DO NOTHING RETURNING id"
_KEEP = f"""
{_INSERT}
ON CONFLICT (project, md5(path)) DO UPDATE SET title = excluded.title, format = excluded.format,
  size = excluded.size, stamp = excluded.stamp, digest = excluded.digest, reader = excluded.reader,
  pages = excluded.pages, pieces = excluded.pieces, problems = excluded.problems,
  read_at = excluded.read_at
RETURNING *
"""
_KEEP_PIECE = """
INSERT INTO dcf_document_pieces (document_id, seq, about, body, headings, first_line, last_line,
  page, words)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, to_tsvector('dcf_words', $9))
"""
_GET = """
SELECT * FROM dcf_documents
WHERE id = $1 OR (project = $2 AND md5(path) = md5($1) AND path = $1)
ORDER BY id = $1 DESC LIMIT 1
"""
# By their bytes, as everywhere else, whatever the database's language is.
_LIST = """
SELECT * FROM dcf_documents WHERE $1::text IS NULL OR project = $1
ORDER BY project COLLATE "C", path COLLATE "C" LIMIT $2 OFFSET $3
"""
_COLUMNS = """p.number, p.document_id, p.seq, d.path, d.title, p.body AS text, p.headings,
  p.first_line, p.last_line, p.page"""
_KEPT = "dcf_document_pieces p JOIN dcf_documents d ON d.id = p.document_id"
_PIECES = f"SELECT {_COLUMNS} FROM {_KEPT}"
_OF_DOCUMENT = f"""
{_PIECES} WHERE p.document_id = $1 AND ($2::int IS NULL OR p.page = $2)
AND ($3::int IS NULL OR (p.last_line >= $3 AND p.first_line <= $4::int))
ORDER BY p.seq LIMIT $5 OFFSET $6
"""
_NEWEST = f"{_PIECES} WHERE d.project = $1 ORDER BY d.read_at DESC, d.id, p.seq LIMIT $2"
_BY_WORDS = f"""
{_PIECES}, to_tsquery('dcf_words', $3) asked WHERE d.project = $1 AND p.words @@ asked
ORDER BY ts_rank(p.words, asked, 1) DESC, p.number DESC LIMIT $2
"""
# All of a project's are compared: none is missed, and no other project's are looked at. With their
# size in the expression whoever runs the database may have an approximate index for it.
_BY_MEANING = f"""
SELECT {_COLUMNS}
FROM {_KEPT} JOIN dcf_document_vectors v USING (number)
WHERE d.project = $1 AND v.embedder = $3 AND v.meaning <#> $4::real[]::halfvec < 0
ORDER BY v.meaning::halfvec({{size}}) <#> $4::real[]::halfvec({{size}}), p.number DESC LIMIT $2
"""
_OF_PROJECT = "t.document_id IN (SELECT id FROM dcf_documents WHERE project = $1)"
_OF_ALL = "$1::text IS NULL"


class PostgresDocuments:
    """Documents in the database of ``store``, found as items there are."""

    def __init__(
        self, store: PostgresStore, clock: Clock, new_id: NewId, embedder: Embedder | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._meanings = Meanings(
            store,
            embedder,
            table="dcf_document_pieces",
            text=f"left(t.about || ': ' || t.body, {MEANT})",
            vectors="dcf_document_vectors",
        )

    @classmethod
    @asynccontextmanager
    async def open(
        cls, url: str, clock: Clock, new_id: NewId, embedder: Embedder | None = None
    ) -> AsyncIterator[PostgresDocuments]:
        """Documents in the database at ``url``. Raises a StoreProblem, as all that is done with
        them does."""
        async with PostgresStore.open(url, vectors=embedder is not None) as store:
            yield cls(store, clock, new_id, embedder)

    async def keep(
        self, project: str, path: str, file: FileState, read: ReadDocument, *, by: Actor
    ) -> Document:
        document_id, now = self._new_id("document"), self._clock()
        kept = await asyncio.to_thread(KeptDocument.of, document_id, project, path, file, read, now)
        pieces = await asyncio.to_thread(lambda: [*_rows(kept)])
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            row = await connection.fetchrow(_KEEP, *_values(kept))
            await connection.execute(
                "DELETE FROM dcf_document_pieces WHERE document_id = $1", row["id"]
            )
            await connection.executemany(_KEEP_PIECE, [(row["id"], *piece) for piece in pieces])
        return document_of(row)

    async def take(self, known: KeptDocument, *, by: Actor) -> bool:
        pieces = await asyncio.to_thread(lambda: [*_rows(known)])
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            row = await connection.fetchrow(_TAKE, *_values(known))
            if row is not None:
                await connection.executemany(_KEEP_PIECE, [(row["id"], *one) for one in pieces])
        return row is not None

    async def confirm(self, document_id: str, stamp: str, *, by: Actor) -> None:
        async with self._store.transaction() as connection:
            await connection.execute(
                "UPDATE dcf_documents SET stamp = $2 WHERE id = $1", document_id, stamp
            )

    async def remove(self, document_id: str, *, by: Actor) -> Document:
        _demand_sayable(document_id)
        async with self._store.transaction() as connection:
            await connection.execute(DURABLE)
            row = await connection.fetchrow(
                "DELETE FROM dcf_documents WHERE id = $1 RETURNING *", document_id
            )
        if row is None:
            raise UnknownDocument(name=document_id)
        return document_of(row)

    async def get(self, name: str, *, project: str | None = None) -> Document:
        _demand_sayable(name)
        async with self._store.transaction() as connection:
            row = await connection.fetchrow(_GET, name, project)
        if row is None:
            raise UnknownDocument(name=name)
        return document_of(row)

    async def list(
        self, project: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[Document, ...]:
        rows = await self._fetched(_LIST, project, max(limit, 0), max(offset, 0))
        return tuple(map(document_of, rows))

    async def states(self, project: str) -> Mapping[str, tuple[str, FileState]]:
        rows = await self._fetched(
            "SELECT path, id, size, stamp, digest, reader FROM dcf_documents WHERE project = $1",
            project,
        )
        return {row["path"]: (row["id"], state_of(row)) for row in rows}

    async def files(self, project: str, document_ids: Sequence[str]) -> Mapping[str, FileState]:
        rows = await self._fetched(
            "SELECT id, size, stamp, digest FROM dcf_documents"
            " WHERE project = $1 AND id = ANY ($2::text[])",
            project,
            [*document_ids],
        )
        return {row["id"]: FileState(row["size"], row["stamp"], row["digest"]) for row in rows}

    async def pieces(
        self, document: Document, chosen: PieceChoice = ALL_PIECES
    ) -> tuple[DocumentPiece, ...]:
        first, last = chosen.lines or (None, None)
        rows = await self._fetched(
            *(_OF_DOCUMENT, document.id, chosen.page, first, last, chosen.limit, chosen.offset)
        )
        demand_pieces(rows, document, chosen)
        return tuple(map(piece_of, rows))

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        if not words(query):
            rows = await self._fetched(_NEWEST, project, limit)
            return tuple(DocumentHit(piece_of(row), 0.0, "newest") for row in rows)
        await self._meanings.give(_OF_PROJECT, project)
        vector = await self._meanings.of(query)
        by_meaning: Sequence[Any] = ()
        likeness: Mapping[int, float] = {}
        async with self._store.transaction() as connection:
            by_words = await connection.fetch(_BY_WORDS, project, limit, asked(query))
            if vector is not None:
                sql = _BY_MEANING.format(size=len(vector))
                by_meaning = await connection.fetch(
                    sql, project, limit, self._meanings.space, vector
                )
                numbers = [row["number"] for row in (*by_words, *by_meaning)]
                likeness = await self._meanings.of_rows(connection, numbers, vector)
        best = fused(by_words, by_meaning, likeness)[:limit]
        return tuple(
            DocumentHit(piece_of(row), round(score, 6), why, likeness)
            for row, score, why, likeness in best
        )

    async def catch_up(self) -> None:
        await self._meanings.give(_OF_ALL, None)

    async def _fetched(self, query: str, *arguments: Any) -> Sequence[Any]:
        async with self._store.transaction() as connection:
            rows: Sequence[Any] = await connection.fetch(query, *arguments)
        return rows


def _demand_sayable(name: str) -> None:
    """Raises UnknownDocument for a name that no text of PostgreSQL can be."""
    if text_faults(name):
        raise UnknownDocument(name=name)


def _values(kept: KeptDocument) -> tuple[Any, ...]:
    """Of its row, in the order of ``_KEEP``."""
    one = kept.document
    about = (one.id, one.project, one.path, one.title, one.format, one.size, kept.stamp)
    problems = json.dumps([problem.to_dict() for problem in one.problems])
    counts = (one.digest, kept.reader, one.pages, one.pieces, problems)
    return (*about, *counts, one.added_at, one.read_at)


def _rows(kept: KeptDocument) -> Iterator[tuple[Any, ...]]:
    """Of its pieces, in the order of ``_KEEP_PIECE`` behind the document's id."""
    for number, piece in enumerate(kept.pieces, 1):
        about = kept.about(number)
        places = (piece.first_line, piece.last_line, piece.page)
        headings = json.dumps(piece.headings)
        yield (number, about, piece.text, headings, *places, told(f"{about}\n{piece.text}"))
