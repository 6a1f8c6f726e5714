"""Which pieces answer a question best: words, names and meaning, in one score."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dcf.code.question import CodeQuestion
from dcf.code.rows import KnownPiece, lines_of, naming_pieces, pieces_by_id
from dcf.code.traces import Named, indexed_places, named_places

_CANDIDATES = 300
# How much a word counts in the names of a piece, in what is said for them, in its path, in its
# text.
_FIELDS = "8, 2, 2, 1"
_FUNCTIONS = frozenset({"function", "method", "macro"})
_WITHIN = (
    "AND rowid IN (SELECT p.id FROM pieces p JOIN files f ON f.id = p.file, json_each(?) folder"
    " WHERE f.path = folder.value OR instr(f.path, folder.value || '/') = 1)"
)
# Chosen on the set "known" of benchmarks.code_questions and on 971 docstrings of its packages that
# it does not ask for. A weighted mean was better than reciprocal ranks (hit@1 0.36 to 0.34).
_WORDS = 1.0
_MEANING = 1.1
_FUNCTION = 0.3
_OPEN = 0.1
# Of a name that begins with an underscore, the sign of what is for the inside of a module.
_INNER = 0.5
_BEGINS = 0.08
_LENGTH = 0.08
# Lines from which on a piece counts as no longer. Stubs and overloads say less than what they stand
# for.
_LONG = 60
# By the part of the question that is names: one that says in seven words what happens to a `path`
# does not ask for the definition of `path`.
_DEFINES = 1.0
_SAYS = 0.4
# Of two that are about alike good the nearer; it does not lift what is not good.
_SAME_FILE = 0.1
_SAME_FOLDER = 0.05
# From so many pieces on words are left out that more than this part of them say, where so many
# others are left.
_MANY = 20_000
_COMMON = 0.15
_ENOUGH = 3
# A trace names the code that failed: its frames come before all else, in its order.
_LATER = 0.001
_BESIDE = 0.9


class Signals(NamedTuple):
    """What speaks for a piece, each from 0 to 1: ``words`` of the question, the best of all has 1;
    ``meaning``, the similarity of vectors, None without them; ``defines`` and ``says``, the share
    of the names asked for that begin or stand in it; ``near``, the nearness to the open file;
    ``begins``, 1 where its name begins as the question does; ``length``, by the logarithm of its
    lines; ``is_open``, 1 unless its name is one for the inside; ``asks_names``, the part of the
    question that is names; ``place``, how near the fault it is in a stack trace, if any piece is in
    one."""

    words: float
    meaning: float | None
    defines: float
    says: float
    near: float
    is_function: bool
    begins: float = 0.0
    length: float = 0.0
    is_open: float = 1.0
    asks_names: float = 1.0
    place: float = 0.0
    has_places: bool = False

    @property
    def likeness(self) -> float | None:
        """How near the question it is but for words; None where nothing else was compared."""
        if self.place:
            return 1.0
        return self.defines or None if self.meaning is None else max(self.meaning, self.defines, 0)

    @property
    def score(self) -> float:
        """Between 0 and 1."""
        if self.place:
            return self.place
        total = _WORDS * self.words + _DEFINES * self.defines * self.asks_names
        total += _SAYS * self.says + self.near + _FUNCTION * self.is_function
        total += _BEGINS * self.begins + _LENGTH * self.length + _OPEN * self.is_open
        reach = _WORDS + _DEFINES + _SAYS + _SAME_FILE + _FUNCTION + _BEGINS + _LENGTH + _OPEN
        if self.meaning is not None:
            total += _MEANING * max(self.meaning, 0.0)
            reach += _MEANING
        return total / reach * (_BESIDE if self.has_places else 1)


class Ranked(NamedTuple):
    """A piece with what speaks for it, the names asked for that it says, by their lines, and the
    place that a stack trace names in it."""

    piece: KnownPiece
    signals: Signals
    said: Mapping[str, int]
    place: Named | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pieces that may answer: what their words are worth, those that may say the names asked for,
    and those at the places of a stack trace, in their order."""

    words: Mapping[int, float]
    naming: Sequence[int]
    places: Mapping[int, Named]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.words, *self.naming, *self.places)))


def candidates(connection: sqlite3.Connection, question: CodeQuestion) -> Candidates:
    """The pieces that match the words of ``question`` best, those that may say its names, and those
    that it names the place of."""
    places = indexed_places(connection, named_places(question.text))
    naming = naming_pieces(connection, question.names)
    if question.folders:
        inside = _inside(connection, question, (*naming, *places))
        naming = [one for one in naming if one in inside]
        places = {one: place for one, place in places.items() if one in inside}
    return Candidates(_by_words(connection, question), naming, places)


def ranked(
    connection: sqlite3.Connection,
    question: CodeQuestion,
    found: Candidates,
    meaning: Mapping[int, float],
) -> list[Ranked]:
    """The best ``limit`` of the candidates, the best first."""
    # Only names are looked for in texts, which are most of what there is to read.
    read = bool(question.names)
    pieces = pieces_by_id(connection, found.ids, with_texts=read)
    judge = _Judge(question, found, meaning)
    everything = [judge.judged(piece) for piece in pieces.values()]
    # Then by place, so that the same question has the same answer.
    everything.sort(
        key=lambda one: (-one.signals.score, one.piece.path, one.piece.first_line, one.piece.id)
    )
    best = everything[: question.limit]
    return best if read else _with_texts(connection, best)


def _with_texts(connection: sqlite3.Connection, found: Sequence[Ranked]) -> list[Ranked]:
    pieces = pieces_by_id(connection, [one.piece.id for one in found])
    return [one._replace(piece=pieces[one.piece.id]) for one in found]


class _Judge:
    """What speaks for pieces: ``meaning`` by their ids."""

    def __init__(
        self, question: CodeQuestion, found: Candidates, meaning: Mapping[int, float]
    ) -> None:
        self._near = question.near
        self._names = question.names
        self._first = question.first
        self._asks_names = question.asks_names
        self._found = found
        self._meaning = meaning
        self._order = {piece: at for at, piece in enumerate(found.places)}

    def judged(self, piece: KnownPiece) -> Ranked:
        names = self._names
        said: Mapping[str, int] = {}
        defines = says = 0.0
        if names:
            begins = set(piece.begins.split())
            said = lines_of(names, piece)
            defines = sum(name in begins for name in names) / len(names)
            says = len(said) / len(names)
        at = self._order.get(piece.id)
        signals = Signals(
            words=self._found.words.get(piece.id, 0.0),
            meaning=self._meaning.get(piece.id),
            defines=defines,
            says=says,
            near=_nearness(piece.path, self._near),
            is_function=piece.kind in _FUNCTIONS,
            begins=float(_begins(piece.name, self._first)),
            length=min(math.log(piece.last_line - piece.first_line + 1) / math.log(_LONG), 1.0),
            is_open=_openness(piece.name),
            asks_names=self._asks_names,
            place=0.0 if at is None else 1 - _LATER * at,
            has_places=bool(self._order),
        )
        return Ranked(piece, signals, said, self._found.places.get(piece.id))


def _inside(
    connection: sqlite3.Connection, question: CodeQuestion, ids: Sequence[int]
) -> frozenset[int]:
    """Those of ``ids`` that are in the folders asked for."""
    rows = connection.execute(
        f"SELECT value FROM json_each(?) WHERE 1 {_WITHIN.replace('rowid', 'value')}",
        (json.dumps(ids), json.dumps(question.folders)),
    )
    return frozenset(one for (one,) in rows)


def _begins(name: str, forms: tuple[str, ...]) -> bool:
    """Whether the last part of a qualified name begins with one of ``forms``."""
    return bool(forms) and name.rpartition(".")[2].lstrip("_").lower().startswith(forms)


def _openness(name: str) -> float:
    """1 but for what is for the inside of a module or, with two underscores, is called by signs."""
    last = name.rpartition(".")[2]
    if last.startswith("__"):
        return 0.0
    return _INNER if last.startswith("_") else 1.0


def _nearness(path: str, near: str | None) -> float:
    if near is None:
        return 0.0
    if path == near:
        return _SAME_FILE
    return _SAME_FOLDER if path.rpartition("/")[0] == near.rpartition("/")[0] else 0.0


def _by_words(connection: sqlite3.Connection, question: CodeQuestion) -> dict[int, float]:
    """The best pieces of the folders asked for, by BM25 of SQLite; the best of all is worth 1."""
    wanted = _match(_telling(connection, question.words))
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {_FIELDS}) AS worth FROM words WHERE words MATCH ?"
        f" {_WITHIN if question.folders else ''} ORDER BY worth DESC, rowid LIMIT {_CANDIDATES}",
        (wanted, *([json.dumps(question.folders)] if question.folders else [])),
    ).fetchall()
    best = max((worth for _, worth in rows), default=0.0)
    # A word that stands in most pieces is worth nothing, and then nothing can be told apart.
    return {piece: worth / best if best > 0 else 0.0 for piece, worth in rows}


def _telling(connection: sqlite3.Connection, words: Sequence[str]) -> Sequence[str]:
    """The words without those that a large part of all pieces say, if enough are left: they tell
    little, and to weigh every piece that says one takes most of the time."""
    total = connection.execute("SELECT count(*) FROM pieces").fetchone()[0]
    if total < _MANY:
        return words
    counts = {
        word: connection.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (_match([word]),)
        ).fetchone()[0]
        for word in words
    }
    rare = [word for word in words if counts[word] <= _COMMON * total]
    said = [word for word in rare if counts[word]]
    return rare if len(said) >= _ENOUGH else words


def _match(words: Sequence[str]) -> str:
    quoted = (word.replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)
