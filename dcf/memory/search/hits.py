"""Where the words of a query stand, from the index of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from dcf.memory.database import Connection
from dcf.memory.search.place import Places, texts_between
from dcf.memory.search.scope import Scope

_ENOUGH = 3_000
"""Texts in a scope that is not narrow from which the best are chosen."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Where a word stands: places of texts that say it, and of texts that it is about. ``share`` is
    the part of all texts of the scope that say it."""

    text: Places
    about: Places
    share: float


def hits(connection: Connection, words: Sequence[str], scope: Scope) -> list[Hits]:
    """For each word its hits.

    In a wide scope the rarest words choose the texts, and the others are looked for in those only:
    a word that stands everywhere brings nothing to the top that no other word brings.
    """
    if scope.is_narrow:
        return [_narrow(connection, word, scope) for word in words]
    return _wide(connection, words, scope)


def _narrow(connection: Connection, word: str, scope: Scope) -> Hits:
    text = _places(connection, f"text : {_quoted(word)}", scope)
    about = _places(connection, f"about : {_quoted(word)}", scope)
    return Hits(text, about, len(text) / max(scope.documents, 1))


def _wide(connection: Connection, words: Sequence[str], scope: Scope) -> list[Hits]:
    counts = {word: _count(connection, f"text : {_quoted(word)}", scope) for word in words}
    found: dict[str, Hits] = {}
    rarer: list[str] = []
    seen = 0
    for word in sorted(words, key=lambda one: counts[one]):
        asked = _quoted(word)
        if seen and seen + counts[word] > _ENOUGH:
            among = f" AND ({' OR '.join(rarer)})"
        else:
            among = ""
            seen += counts[word]
        text = _places(connection, f"text : {asked}{among}", scope, _ENOUGH)
        about = _places(connection, f"about : {asked}{among}", scope, _ENOUGH)
        if not among:
            seen += len(about)
            rarer.append(asked)
        found[word] = Hits(text, about, counts[word] / scope.documents)
    return [found[word] for word in words]


def _places(connection: Connection, match: str, scope: Scope, limit: int = -1) -> Places:
    cursor = connection.cursor()
    # Bare tuples: rows by name cost as much as the search.
    cursor.row_factory = None
    parts = [
        np.fromiter(
            chain.from_iterable(
                cursor.execute(
                    "SELECT rowid FROM search_words WHERE search_words MATCH ?"
                    " AND rowid BETWEEN ? AND ? LIMIT ?",
                    (match, stretch.first, stretch.last, limit),
                )
            ),
            dtype=np.int64,
        )
        for stretch in scope.stretches
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _count(connection: Connection, match: str, scope: Scope) -> int:
    """About how many texts of the scope match. Of a word that is in very many, the first are
    counted, and the rest taken to be as dense."""
    total = 0
    for stretch in scope.stretches:
        count, last = connection.execute(
            "SELECT count(*), max(rowid) FROM (SELECT rowid FROM search_words"
            " WHERE search_words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)",
            (match, stretch.first, stretch.last, _ENOUGH),
        ).fetchone()
        if count == _ENOUGH:
            passed = texts_between(connection, stretch.first, last)
            whole = texts_between(connection, stretch.first, stretch.last)
            count = min(round(count * whole / max(passed, 1)), whole)
        total += count
    return total


def _quoted(word: str) -> str:
    """A word as a string of FTS5's language: it has letters, digits and marks only."""
    return f'"{word}"'
