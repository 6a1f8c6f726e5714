"""Which pieces answer a question best: words, names and meaning, in one score."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcf.code.literal import Mentions
from dcf.code.question import Question
from dcf.code.rows import KnownPiece, piece_at, pieces_by_id

_CANDIDATES = 300
_SAYING = 100
# How much a word counts in the names of a piece, in its path, in its text.
_FIELDS = "3, 2, 1"
_FUNCTIONS = frozenset({"function", "method", "macro"})
_WITHIN = (
    "AND rowid IN (SELECT p.id FROM pieces p JOIN files f ON f.id = p.file, json_each(?) folder"
    " WHERE f.path = folder.value OR instr(f.path, folder.value || '/') = 1)"
)
# Chosen on 862 docstrings of the sources that benchmarks.code_questions asks about: a weighted mean
# was better than reciprocal ranks (hit@1 0.36 to 0.34). From 0.7 to 1 for the meaning, and from
# 0.15 to 0.25 for functions, it stayed the same.
_WORDS = 1.0
_MEANING = 1.0
_FUNCTION = 0.2
_DEFINES = 1.0
_SAYS = 0.4
# Of two that are about alike good the nearer; it does not lift what is not good.
_SAME_FILE = 0.1
_SAME_FOLDER = 0.05


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for a piece, each from 0 to 1: ``words`` of the question, the best of all has 1;
    ``meaning``, the similarity of vectors, None without them; ``defines`` and ``says``, the share
    of the names asked for that begin or stand in it; ``near``, the nearness to the open file."""

    words: float
    meaning: float | None
    defines: float
    says: float
    near: float
    is_function: bool

    @property
    def score(self) -> float:
        """Between 0 and 1."""
        total = _WORDS * self.words + _DEFINES * self.defines + _SAYS * self.says + self.near
        total += _FUNCTION * self.is_function
        reach = _WORDS + _DEFINES + _SAYS + _SAME_FILE + _FUNCTION
        if self.meaning is not None:
            total += _MEANING * max(self.meaning, 0.0)
            reach += _MEANING
        return total / reach


@dataclass(frozen=True, slots=True)
class Ranked:
    """A piece with what speaks for it, and the names asked for that it says, by their lines."""

    piece: KnownPiece
    signals: Signals
    said: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pieces that may answer: what their words are worth, and which names they say where."""

    words: Mapping[int, float]
    said: Mapping[int, Mapping[str, int]]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.words, *self.said)))


def candidates(
    connection: sqlite3.Connection, question: Question, mentions: Mentions
) -> Candidates:
    """The pieces that match the words of ``question`` best, and those that say most of its
    names."""
    said: dict[int, dict[str, int]] = {}
    for place, names in mentions.items():
        piece = piece_at(connection, place.path, place.line)
        if piece is not None:
            for name in names:
                said.setdefault(piece, {}).setdefault(name, place.line)
    most = sorted(said, key=lambda piece: (-len(said[piece]), piece))[:_SAYING]
    return Candidates(_by_words(connection, question), {piece: said[piece] for piece in most})


def ranked(
    connection: sqlite3.Connection,
    question: Question,
    found: Candidates,
    meaning: Mapping[int, float],
) -> list[Ranked]:
    """The best ``limit`` of the candidates, the best first."""
    pieces = pieces_by_id(connection, found.ids)
    names = question.names
    everything = [
        _judged(piece, names, question.near, found, meaning.get(piece.id))
        for piece in pieces.values()
    ]
    # Then by place, so that the same question has the same answer.
    everything.sort(
        key=lambda one: (-one.signals.score, one.piece.path, one.piece.first_line, one.piece.id)
    )
    return everything[: question.limit]


def _judged(
    piece: KnownPiece,
    names: Sequence[str],
    near: str | None,
    found: Candidates,
    meaning: float | None,
) -> Ranked:
    begins = set(piece.begins.split())
    said = found.said.get(piece.id, {})
    signals = Signals(
        words=found.words.get(piece.id, 0.0),
        meaning=meaning,
        defines=sum(name in begins for name in names) / max(len(names), 1),
        says=len(said) / max(len(names), 1),
        near=_nearness(piece.path, near),
        is_function=piece.kind in _FUNCTIONS,
    )
    return Ranked(piece, signals, said)


def _nearness(path: str, near: str | None) -> float:
    if near is None:
        return 0.0
    if path == near:
        return _SAME_FILE
    return _SAME_FOLDER if path.rpartition("/")[0] == near.rpartition("/")[0] else 0.0


def _by_words(connection: sqlite3.Connection, question: Question) -> dict[int, float]:
    """The best pieces of the folders asked for, by BM25 of SQLite; the best of all is worth 1."""
    rows = connection.execute(
        f"SELECT rowid, -bm25(words, {_FIELDS}) AS worth FROM words WHERE words MATCH ?"
        f" {_WITHIN if question.folders else ''} ORDER BY worth DESC, rowid LIMIT {_CANDIDATES}",
        (_match(question.words), *([json.dumps(question.folders)] if question.folders else [])),
    ).fetchall()
    best = max((worth for _, worth in rows), default=0.0)
    # A word that stands in most pieces is worth nothing, and then nothing can be told apart.
    return {piece: worth / best if best > 0 else 0.0 for piece, worth in rows}


def _match(words: Sequence[str]) -> str:
    quoted = (word.replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)
