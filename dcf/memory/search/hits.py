"""Where the words of a query stand, from the index of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcf.late_numpy import np
from dcf.memory.database import Connection
from dcf.memory.search.place import Places, distinct, texts_between
from dcf.memory.search.scope import Scope, Stretch

_ENOUGH = 3_000
"""Texts in a scope that is not narrow from which the best are chosen."""
_FEW = 8
"""Stretches of a scope that are asked one by one without a second thought."""
_AROUND = 1_000
"""Texts between the first and the last of many stretches that are read to spare asking each."""
# As one text: thousands of rows, each handed over by itself, take twice as long.
_TEXTS = (
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM search_words"
    " WHERE search_words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)"
)
_ABOUTS = (
    "SELECT group_concat(rowid) FROM (SELECT rowid FROM search_abouts"
    " WHERE search_abouts MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)"
)


@dataclass(frozen=True, slots=True)
class Hits:
    """Where a word stands: places of texts that say it, and of texts that it is about. ``share`` is
    the part of all texts of the scope that say it."""

    text: Places
    about: Places
    share: float


@dataclass(frozen=True, slots=True)
class _Said:
    """About how many texts say a word, and their places: ``is_all`` of them, or of a word that is
    in very many the first of each stretch."""

    number: int
    places: Places
    is_all: bool = True


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The texts with a rare word: how the index is asked for them, and their places, if these are
    all known."""

    match: str
    places: Places | None


def hits(connection: Connection, words: Sequence[str], scope: Scope) -> list[Hits]:
    """For each word its hits.

    In a wide scope the rarest words choose the texts, and the others are looked for in those only:
    a word that stands everywhere brings nothing to the top that no other word brings.
    """
    if scope.is_narrow or scope.only is not None:
        return [_narrow(connection, word, scope) for word in words]
    return _wide(connection, words, scope)


def _narrow(connection: Connection, word: str, scope: Scope) -> Hits:
    text = _places(connection, f"text : {_quoted(word)}", scope)
    return Hits(text, _about(connection, word, scope), len(text) / max(scope.documents, 1))


def _wide(connection: Connection, words: Sequence[str], scope: Scope) -> list[Hits]:
    whole = {one: texts_between(connection, one.first, one.last) for one in scope.stretches}
    said = {word: _said(connection, word, scope, whole) for word in words}
    order = sorted(words, key=lambda one: said[one].number)
    found: dict[str, Hits] = {}
    seen = 0
    for word in order:
        number = said[word].number
        if seen and seen + number > _ENOUGH:
            break
        found[word] = _everywhere(connection, word, said[word], scope)
        seen += number + len(found[word].about)
    chosen = _chosen(said, found)
    for word in order[len(found) :]:
        found[word] = _among(connection, word, said[word], chosen, scope)
    return [found[word] for word in words]


def _said(connection: Connection, word: str, scope: Scope, whole: Mapping[Stretch, int]) -> _Said:
    """Of a word that is in very many texts, the first are counted, and the rest taken to be as
    dense. ``whole``: about how many texts are in each stretch of the scope."""
    match = f"text : {_quoted(word)}"
    around = _around(connection, _TEXTS, match, scope)
    if around is not None:
        return _Said(len(around), around)
    number = 0
    parts: list[Places] = []
    is_all = True
    for stretch, texts in whole.items():
        here = _rowids(connection, _TEXTS, (match, stretch.first, stretch.last, _ENOUGH))
        parts.append(here)
        if len(here) < _ENOUGH:
            number += len(here)
            continue
        passed = texts_between(connection, stretch.first, int(here[-1]))
        number += min(round(_ENOUGH * texts / max(passed, 1)), texts)
        is_all = False
    return _Said(number, _together(parts), is_all)


def _everywhere(connection: Connection, word: str, said: _Said, scope: Scope) -> Hits:
    about = _about(connection, word, scope, _ENOUGH)
    return Hits(said.places, about, said.number / scope.documents)


def _among(connection: Connection, word: str, said: _Said, chosen: _Chosen, scope: Scope) -> Hits:
    match = f"{_quoted(word)} AND ({chosen.match})"
    if said.is_all and chosen.places is not None:
        text = np.intersect1d(said.places, chosen.places, assume_unique=True)
    else:
        text = _places(connection, f"text : {match}", scope, _ENOUGH)
    about = _about(connection, word, scope, _ENOUGH)
    if len(about):
        # Few words are what a text is about: for most nothing need be asked of the large index.
        about = _places(connection, f"about : {match}", scope, _ENOUGH)
    return Hits(text, about, said.number / scope.documents)


def _chosen(said: Mapping[str, _Said], found: Mapping[str, Hits]) -> _Chosen:
    match = " OR ".join(_quoted(word) for word in found)
    # As long as a list is as the most that is read, there may be more.
    if any(not said[word].is_all or len(found[word].about) >= _ENOUGH for word in found):
        return _Chosen(match, None)
    parts = [part for one in found.values() for part in (one.text, one.about)]
    return _Chosen(match, distinct(_together(parts)))


def _places(connection: Connection, match: str, scope: Scope, limit: int = -1) -> Places:
    return _listed(connection, _TEXTS, match, scope, limit)


def _about(connection: Connection, word: str, scope: Scope, limit: int = -1) -> Places:
    return _listed(connection, _ABOUTS, _quoted(word), scope, limit)


def _listed(connection: Connection, sql: str, match: str, scope: Scope, limit: int) -> Places:
    """The places in the scope, at most ``limit`` of each stretch (-1: all)."""
    found = _around(connection, sql, match, scope)
    if found is None:
        asked = [(match, one.first, one.last, limit) for one in scope.stretches]
        found = _together([_rowids(connection, sql, one) for one in asked])
    if scope.only is None:
        return found
    return np.intersect1d(found, scope.only, assume_unique=True)


def _around(connection: Connection, sql: str, match: str, scope: Scope) -> Places | None:
    """The places in a scope of many stretches; None where the stretches are few, or much matches
    between them: then it takes less time to ask each."""
    if len(scope.stretches) <= _FEW:
        return None
    first, last = scope.stretches[0].first, scope.stretches[-1].last
    found = _rowids(connection, sql, (match, first, last, _AROUND))
    if len(found) >= _AROUND:
        return None
    firsts, lasts = np.array(scope.spans, dtype=np.int64).T
    at = np.searchsorted(firsts, found, side="right") - 1
    inside: Places = found[found <= lasts[at]]
    return inside


def _rowids(connection: Connection, sql: str, values: tuple[str, int, int, int]) -> Places:
    cursor = connection.cursor()
    # Bare tuples: rows by name cost as much as the search.
    cursor.row_factory = None
    (found,) = cursor.execute(sql, values).fetchone()
    return np.fromstring(found or "", dtype=np.int64, sep=",")


def _together(parts: Sequence[Places]) -> Places:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _quoted(word: str) -> str:
    """A word as a string of FTS5's language: it has letters, digits and marks only."""
    return f'"{word}"'
