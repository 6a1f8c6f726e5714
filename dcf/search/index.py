"""The index: brought up to date with documents, asked with words."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from dcf.late_numpy import np
from dcf.search.document import Document, Shape
from dcf.search.embedder import Embedder, Vectors, name_of
from dcf.search.errors import EmptyQuery, IndexDamaged
from dcf.search.index_file import IndexFile, Opened, Stemmer
from dcf.search.names import Names
from dcf.search.score import Postings, fused, length_scores, similarities, wishes, word_scores
from dcf.search.words import spoken, telling_words, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Documents embedded between two commits: what a killed process has done is kept.
_BATCH = 512


@dataclass(frozen=True, slots=True)
class Change:
    """What an update did; ``embedded`` counts the documents whose views had to be embedded."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found. ``score`` is the weighted mean of ``similarity``, ``words``,
    ``named`` (how far the query covers its name) and ``length`` (how much is said of it); all lie
    about between 0 and 1. ``matched`` has the words of the query by the fields that they stand
    in."""

    id: str
    score: float
    similarity: float
    words: float
    named: float
    length: float
    matched: Mapping[str, list[str]]


@dataclass(slots=True)
class _Held:
    """What is kept in memory of the file: documents in rows, and words that were asked for."""

    state: str
    ids: list[str]
    places: NDArray[np.int64]
    lengths: NDArray[np.float32]
    said: NDArray[np.float32]
    names: Names
    vectors: Vectors
    postings: dict[str, Postings] = field(default_factory=dict)


class SearchIndex:
    """Documents in one file, ranked by words and by meaning.

    Several processes may use one file. A file that is damaged, older, or of another embedder is
    made anew.
    """

    def __init__(self, path: Path, shape: Shape, embedder: Embedder) -> None:
        self.path = path
        self.embedder = embedder
        self._shape = shape
        self._file = IndexFile(path, shape, name_of(embedder))
        self._fields = {name: number for number, name in enumerate(shape.fields)}
        self._weights = np.array(list(shape.fields.values()), dtype=np.float32)
        self._stemmer = Stemmer()
        self._held: _Held | None = None
        self._lock = Lock()

    def update(self, documents: Iterable[Document]) -> Change:
        """Index exactly ``documents``: what changed is indexed again, what is gone goes.

        Their ids are unique. Raises ``IndexUnusable``.
        """
        wanted = {document.id: document for document in documents}
        with self._lock:
            try:
                return self._bring(wanted)
            except IndexDamaged:
                return self._bring(wanted)

    def search(self, query: str, k: int = 10, among: Collection[str] | None = None) -> list[Hit]:
        """The ``k`` documents that fit best, the best first; of those ``among``, if given.

        Documents that match in nothing come last, rather than nothing. Raises ``EmptyQuery``,
        ``IndexDamaged`` (bring the documents again) and ``IndexUnusable``.
        """
        return self.search_each([query], k, among)[0]

    def search_each(
        self, queries: Sequence[str], k: int = 10, among: Collection[str] | None = None
    ) -> list[list[Hit]]:
        """What ``search`` gives for each of ``queries``, which are embedded together: a transformer
        takes half the time for each then. Raises as ``search``."""
        if not queries:
            return []
        if not all(map(words, queries)):
            raise EmptyQuery
        several = self.embedder.weights.sentence > 0
        asked = [[query, *(wishes(query) if several else ())] for query in queries]
        vectors = self.embedder.embed_queries([text for texts in asked for text in texts])
        ends = np.cumsum([len(texts) for texts in asked])[:-1]
        with self._lock, self._file.open() as opened, opened.reading():
            held = self._hold(opened)
            return [
                self._ranked(opened, held, query, rows, k, among)
                for query, rows in zip(queries, np.split(vectors, ends), strict=True)
            ]

    def _ranked(
        self,
        opened: Opened,
        held: _Held,
        query: str,
        vectors: Vectors,
        k: int,
        among: Collection[str] | None,
    ) -> list[Hit]:
        if not held.ids:
            return []
        weights = self.embedder.weights
        stems = self._stemmer.stems(telling_words(spoken(query)))
        found = {stem: self._postings(opened, held, stem) for stem in stems}
        named = held.names.covered(query)
        by_words = word_scores(found, held.lengths, self._weights)
        similar = similarities(held.vectors, vectors, weights.sentence)
        scores = fused(similar, by_words, named, held.said, weights)
        rows = _best(scores, k, _rows_among(held.ids, among))
        matches = _matches(rows, found, stems, list(self._fields))
        return [
            Hit(
                held.ids[row],
                float(scores[row]),
                float(similar[row]),
                float(by_words[row]),
                float(named[row]),
                float(held.said[row]),
                matches[row],
            )
            for row in rows
        ]

    def _bring(self, wanted: Mapping[str, Document]) -> Change:
        with self._file.open() as opened:
            known = opened.digests()
            changed = [one for one in wanted.values() if known.get(one.id) != one.digest]
            gone = [one for one in known if one not in wanted]
            if not changed and not gone:
                return Change()
            fresh = self._embed(opened, changed)
            with opened.writing():
                # Asked again: another process may have written since.
                known = opened.digests()
                changed = [one for one in wanted.values() if known.get(one.id) != one.digest]
                gone = [one for one in known if one not in wanted]
                missing = {one.views_digest for one in changed} - opened.views_known()
                lost = [one for one in changed if one.views_digest in missing - fresh.keys()]
                fresh.update(self._vectors(lost))
                opened.keep_vectors((views, fresh[views]) for views in missing)
                opened.drop([*gone, *(one.id for one in changed if one.id in known)])
                opened.add(changed)
                opened.forget_unused_vectors()
                opened.state = _state(opened.digests())
        added = sum(one.id not in known for one in changed)
        return Change(added, len(changed) - added, len(gone), len(fresh))

    def _embed(self, opened: Opened, changed: Sequence[Document]) -> dict[str, Vectors]:
        """The vectors that are not in the file, kept there batch by batch."""
        known = opened.views_known()
        missing = [
            one
            for one in {document.views_digest: document for document in changed}.values()
            if one.views_digest not in known
        ]
        fresh: dict[str, Vectors] = {}
        for start in range(0, len(missing), _BATCH):
            batch = self._vectors(missing[start : start + _BATCH])
            with opened.writing():
                opened.keep_vectors(batch.items())
            fresh.update(batch)
        return fresh

    def _vectors(self, documents: Sequence[Document]) -> dict[str, Vectors]:
        """One vector for each document: the weighted mean of those of its views. The similarity to
        it is the weighted mean of the similarities to them."""
        total = np.float32(sum(self._shape.views))
        texts = [view for document in documents for view in document.views]
        each = (
            self.embedder.embed(texts).reshape(len(documents), len(self._shape.views), -1)
            if (documents)
            else np.zeros((0, 0, 0), dtype=np.float32)
        )
        weights = np.array(self._shape.views, dtype=np.float32)[:, None]
        rows = ((vectors * weights).sum(axis=0) / total for vectors in each)
        return {one.views_digest: row for one, row in zip(documents, rows, strict=True)}

    def _hold(self, opened: Opened) -> _Held:
        state = opened.state
        if self._held is None or self._held.state != state:
            documents = opened.documents()
            places, ids, names, lengths, said = (
                zip(*documents, strict=True) if documents else ([],) * 5
            )
            before = self._held.names if self._held else None
            self._held = _Held(
                state,
                list(ids),
                np.array(places, dtype=np.int64),
                np.array(lengths, dtype=np.float32),
                length_scores(np.array(said, dtype=np.int64)),
                Names(names, self.embedder.embed_words, before),
                opened.vectors(),
            )
        return self._held

    def _postings(self, opened: Opened, held: _Held, stem: str) -> Postings:
        known = held.postings.get(stem)
        if known is None:
            found = opened.postings(stem)
            known = held.postings[stem] = Postings(
                np.searchsorted(held.places, [place for place, _, _ in found]),
                np.array([self._fields[name] for _, name, _ in found], dtype=np.int64),
                np.array([count for _, _, count in found], dtype=np.float32),
            )
        return known


def _state(digests: Mapping[str, str]) -> str:
    text = "".join(f"{one}{digest}" for one, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _rows_among(ids: Sequence[str], among: Collection[str] | None) -> NDArray[np.int64]:
    if among is None:
        return np.arange(len(ids))
    chosen = frozenset(among)
    return np.array([row for row, one in enumerate(ids) if one in chosen], dtype=np.int64)


def _best(scores: NDArray[np.floating[Any]], k: int, rows: NDArray[np.int64]) -> list[int]:
    """The best rows; equals in the order of the rows, so that an answer can be repeated."""
    order = np.argsort(-scores[rows], kind="stable")[: max(k, 0)]
    return [int(row) for row in rows[order]]


def _matches(
    rows: Sequence[int],
    found: Mapping[str, Postings],
    stems: Mapping[str, str],
    fields: Sequence[str],
) -> dict[int, dict[str, list[str]]]:
    """For each row the words of the query, by field in the order of the shape."""
    matches: dict[int, dict[str, list[str]]] = {row: {} for row in rows}
    for stem, postings in found.items():
        for place in np.flatnonzero(np.isin(postings.rows, rows)):
            named = matches[int(postings.rows[place])]
            known = named.setdefault(fields[postings.fields[place]], [])
            if stems[stem] not in known:
                known.append(stems[stem])
    return {
        row: {name: named[name] for name in fields if name in named}
        for row, named in matches.items()
    }
