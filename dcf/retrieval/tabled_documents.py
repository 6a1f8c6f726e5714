"""Documents that a process has at hand in tables, found by their words, whatever else keeps
them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from threading import Lock
from typing import TypeVar

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
)
from dcf.retrieval.backend import DocumentHit
from dcf.retrieval.ranking import worth
from dcf.retrieval.word_table import WordTable
from dcf.search import words

Out = TypeVar("Out")


class DocumentTable:
    """Documents by their ids and paths. They are looked at in ``reading`` and changed in
    ``changing``, by one thread at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[str, KeptDocument] = {}
        self._id_at: dict[str, str] = {}
        self._numbers = count(1)
        # Of the pieces in the table of words, by document and the other way round.
        self._numbers_of: dict[str, list[int]] = {}
        self._piece_at: dict[int, tuple[str, int]] = {}
        self._words = WordTable()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While nothing changes."""
        with self._lock:
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """While nobody else reads or changes anything."""
        with self._lock:
            yield

    def all(self) -> list[KeptDocument]:
        """In no order."""
        return [*self._kept.values()]

    def get(self, document_id: str) -> KeptDocument | None:
        """The document with this id."""
        return self._kept.get(document_id)

    def at(self, path: str) -> KeptDocument | None:
        """The document of this file."""
        return self._kept.get(self._id_at.get(path, ""))

    def put(self, kept: KeptDocument) -> None:
        """Have a document, in place of the one with its id."""
        document_id = kept.document.id
        self._leave_out(document_id)
        numbered = {next(self._numbers): place for place in range(1, len(kept.pieces) + 1)}
        self._words.put(
            (number, f"{kept.about(place)}\n{kept.pieces[place - 1].text}")
            for number, place in numbered.items()
        )
        self._kept[document_id] = kept
        self._id_at[kept.document.path] = document_id
        self._numbers_of[document_id] = [*numbered]
        self._piece_at |= {number: (document_id, place) for number, place in numbered.items()}

    def drop(self, document_id: str) -> None:
        """Give a document up."""
        self._leave_out(document_id)

    def _leave_out(self, document_id: str) -> None:
        known = self._kept.pop(document_id, None)
        if known is not None:
            del self._id_at[known.document.path]
        for number in self._numbers_of.pop(document_id, ()):
            del self._piece_at[number]
            self._words.remove(number)

    def best(self, query: str, limit: int) -> list[DocumentHit]:
        """At most ``limit`` pieces that say a word of ``query``, the best first; those of what was
        read last, where it has none."""
        if not words(query):
            return [DocumentHit(one, 0.0, "newest") for one in self._newest(limit)]
        found = [self._piece_at[number] for number in self._words.best(query)[:limit]]
        return [
            DocumentHit(self._kept[document_id].piece(number), round(worth([place]), 6), "words")
            for place, (document_id, number) in enumerate(found, 1)
        ]

    def _newest(self, limit: int) -> list[DocumentPiece]:
        newest = sorted(
            self._kept.values(), key=lambda one: (-one.document.read_at, one.document.id)
        )
        places = ((one, place) for one in newest for place in range(1, len(one.pieces) + 1))
        return [one.piece(place) for (one, place), _ in zip(places, range(limit), strict=False)]


class TabledDocuments(ABC):
    """Documents in one table for each project, found by their words. They are worked on in other
    threads."""

    def __init__(self, clock: Clock, new_id: NewId) -> None:
        self._clock = clock
        self._new_id = new_id

    @abstractmethod
    def _table(self, project: str) -> DocumentTable:
        """That of a project."""

    @abstractmethod
    def _tables(self) -> Iterable[DocumentTable]:
        """Those of all projects."""

    @abstractmethod
    def _tables_with(self, document_id: str) -> Iterable[DocumentTable]:
        """Those that may have a document with this id, and maybe others."""

    async def keep(
        self, project: str, path: str, file: FileState, read: ReadDocument, *, by: Actor
    ) -> Document:
        def kept() -> Document:
            now = self._clock()
            new = KeptDocument.of(self._new_id("document"), project, path, file, read, now)
            table = self._table(project)
            with table.changing():
                before = table.at(path)
                new = new if before is None else new.in_place_of(before)
                table.put(new)
            return new.document

        return await self._at_work(kept)

    async def take(self, known: KeptDocument, *, by: Actor) -> bool:
        one = known.document

        def taken() -> bool:
            table = self._table(one.project)
            with table.changing():
                if table.get(one.id) is not None or table.at(one.path) is not None:
                    return False
                table.put(known)
                return True

        return await self._at_work(taken)

    async def confirm(self, document_id: str, stamp: str, *, by: Actor) -> None:
        def confirmed(table: DocumentTable, known: KeptDocument) -> None:
            table.put(replace(known, stamp=stamp))

        await self._at_work(self._changed, document_id, confirmed)

    async def remove(self, document_id: str, *, by: Actor) -> Document:
        def removed(table: DocumentTable, known: KeptDocument) -> None:
            table.drop(document_id)

        known = await self._at_work(self._changed, document_id, removed)
        if known is None:
            raise UnknownDocument(name=document_id)
        return known.document

    async def get(self, name: str, *, project: str | None = None) -> Document:
        found = await self._at_work(self._found, name)
        if found is None and project is not None:
            found = await self._read(project, lambda table: table.at(name))
        if found is None:
            raise UnknownDocument(name=name)
        return found.document

    async def list(
        self, project: str | None = None, *, limit: int = 50, offset: int = 0
    ) -> tuple[Document, ...]:
        def listed() -> list[Document]:
            tables = self._tables() if project is None else [self._table(project)]
            return [kept.document for table in tables for kept in _all(table)]

        found = sorted(await self._at_work(listed), key=lambda one: (one.project, one.path))
        return tuple(islice(found, max(offset, 0), max(offset, 0) + max(limit, 0)))

    async def states(self, project: str) -> Mapping[str, tuple[str, FileState]]:
        kept = await self._at_work(_all, self._table(project))
        return {one.document.path: (one.document.id, one.state) for one in kept}

    async def pieces(
        self, document: Document, chosen: PieceChoice = ALL_PIECES
    ) -> tuple[DocumentPiece, ...]:
        kept = await self._read(document.project, lambda table: table.get(document.id))
        numbers = range(1, len(kept.pieces) + 1) if kept is not None else ()
        pieces = (kept.piece(number) for number in numbers if kept is not None)
        wanted = (one for one in pieces if _is_chosen(one, chosen))
        found = tuple(islice(wanted, chosen.offset, chosen.offset + chosen.limit))
        demand_pieces(found, document, chosen)
        return found

    async def find(self, project: str, query: str, *, limit: int = 10) -> tuple[DocumentHit, ...]:
        return tuple(await self._read(project, lambda table: table.best(query, limit)))

    async def files(self, project: str, document_ids: Sequence[str]) -> Mapping[str, FileState]:
        kept = await self._read(project, lambda table: [*map(table.get, document_ids)])
        return {
            one.document.id: FileState(one.document.size, one.stamp, one.document.digest)
            for one in kept
            if one is not None
        }

    async def catch_up(self) -> None:
        # Words alone decide here.
        return

    async def _read(self, project: str, work: Callable[[DocumentTable], Out]) -> Out:
        def read() -> Out:
            table = self._table(project)
            with table.reading():
                return work(table)

        return await self._at_work(read)

    def _found(self, document_id: str) -> KeptDocument | None:
        for table in self._tables_with(document_id):
            with table.reading():
                known = table.get(document_id)
            if known is not None:
                return known
        return None

    def _changed(
        self, document_id: str, change: Callable[[DocumentTable, KeptDocument], None]
    ) -> KeptDocument | None:
        """The document as it was."""
        for table in self._tables_with(document_id):
            with table.changing():
                known = table.get(document_id)
                if known is not None:
                    change(table, known)
                    return known
        return None

    async def _at_work(self, work: Callable[..., Out], *arguments: object) -> Out:
        """What ``work`` returns in another thread."""
        return await asyncio.to_thread(work, *arguments)


def _all(table: DocumentTable) -> list[KeptDocument]:
    with table.reading():
        return table.all()


def _is_chosen(piece: DocumentPiece, chosen: PieceChoice) -> bool:
    if chosen.page is not None and piece.page != chosen.page:
        return False
    if chosen.lines is None:
        return True
    if piece.first_line is None or piece.last_line is None:
        return False
    first, last = chosen.lines
    return piece.last_line >= first and piece.first_line <= last
