"""Documents of a project that a process has at hand, and the words by which they are found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Lock

from dcf.memory import DocumentPiece, KeptDocument
from dcf.retrieval.documents import DocumentHit
from dcf.retrieval.ranking import worth
from dcf.retrieval.word_table import WordTable
from dcf.search import words


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
