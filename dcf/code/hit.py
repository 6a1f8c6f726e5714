"""What a search of code gives: a ranked piece as a hit, with its text in a limit of tokens and the
reasons why it is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcf.citation import Citation
from dcf.code.question import CodeQuestion
from dcf.code.ranking import Ranked
from dcf.search import count_tokens, counts_of_tokens

_SHOWN = 6
"""Words that a reason names."""


@dataclass(frozen=True, slots=True)
class CodeHit:
    """Lines ``first_line`` to ``last_line`` (from 1, both included) of the file ``path``, which is
    relative to the root. ``symbol`` is the qualified name of what they define or stand in, empty
    outside of everything. ``text`` is of whole lines and costs ``tokens``. ``score`` is between 0
    and 1; it may be compared inside of one answer. ``why`` are the reasons, the strongest first.
    ``likeness`` is how near the question it is but for words, from 0 to 1: by meaning, by the names
    that it defines, 1 where a stack trace names it; None where only words were compared. ``frame``
    is its place among those that a stack trace names, from 0, the fault's; else None."""

    path: str
    first_line: int
    last_line: int
    symbol: str
    text: str
    tokens: int
    score: float
    why: tuple[str, ...]
    likeness: float | None = None
    frame: int | None = None

    @property
    def citation(self) -> str:
        """The address of its lines."""
        place = Citation("code", self.path, "line", number=self.first_line, last=self.last_line)
        return str(place)


def hits(
    connection: sqlite3.Connection, question: CodeQuestion, found: Sequence[Ranked]
) -> tuple[CodeHit, ...]:
    """Those of ``found``, in their order."""
    matched = _matched(connection, question, [one.piece.id for one in found])
    tokens = counts_of_tokens([one.piece.text for one in found])
    return tuple(
        # What a trace names comes before all else, in its order.
        _hit(one, question, matched.get(one.piece.id, []), count, at if one.place else None)
        for at, (one, count) in enumerate(zip(found, tokens, strict=True))
    )


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """Lines from ``first`` on, counted from 1, which are ``count``."""

    first: int
    count: int
    text: str
    tokens: int


def _hit(
    one: Ranked, question: CodeQuestion, words: list[str], tokens: int, frame: int | None
) -> CodeHit:
    """``tokens`` are those of the whole piece."""
    piece = one.piece
    if tokens <= question.tokens:
        lines = piece.text.count("\n") + 1
        excerpt = _Excerpt(piece.first_line, lines, piece.text, tokens)
    else:
        excerpt = _excerpt(piece.text, piece.first_line, question, _wanted_line(one))
    return CodeHit(
        path=piece.path,
        first_line=excerpt.first,
        last_line=excerpt.first + excerpt.count - 1,
        symbol=piece.name,
        text=excerpt.text,
        tokens=excerpt.tokens,
        score=round(one.signals.score, 4),
        why=tuple(_reasons(one, question, words)),
        likeness=one.signals.likeness,
        frame=frame,
    )


def _reasons(one: Ranked, question: CodeQuestion, words: list[str]) -> Iterator[str]:
    if one.place is not None:
        yield f"the trace names {one.place.path}:{one.place.line}"
    begins = set(one.piece.begins.split())
    defined = [name for name in question.names if name in begins]
    if defined:
        yield f"defines {', '.join(defined)}"
    said = [f"{name} (line {line})" for name, line in one.said.items() if name not in begins]
    if said:
        yield f"says {', '.join(sorted(said)[:_SHOWN])}"
    if words:
        yield f"words: {', '.join(words[:_SHOWN])}"
    if one.signals.meaning is not None and one.signals.meaning > 0:
        yield f"meaning: {one.signals.meaning:.2f}"
    if one.signals.near:
        yield f"near {question.near}: +{one.signals.near:g}"


def _wanted_line(one: Ranked) -> int:
    """The line that is to be seen, if not all can be."""
    if one.place is not None:
        return one.place.line
    begins = set(one.piece.begins.split())
    lines = [line for name, line in one.said.items() if name not in begins]
    return min(lines, default=one.piece.first_line)


def _excerpt(text: str, first_line: int, question: CodeQuestion, wanted: int) -> _Excerpt:
    """As many lines of ``text`` as fit: from its beginning where that holds the line ``wanted``,
    else from there on. Of one line that is too long, its beginning."""
    lines = text.split("\n")
    for start in (0, wanted - first_line):
        fitting = _fitting(lines[start:], question.tokens)
        if fitting and start + len(fitting) > wanted - first_line:
            break
    shown = "\n".join(fitting) or _beginning(lines[start], question.tokens)
    return _Excerpt(first_line + start, max(len(fitting), 1), shown, count_tokens(shown))


def _fitting(lines: Sequence[str], most: int) -> list[str]:
    """The first of ``lines`` that together have at most ``most`` tokens."""
    # Each line and its end cost a token at least; joined they cost about what they cost alone.
    few = list(lines[: most + 1])
    total = count = 0
    for cost in counts_of_tokens([f"{line}\n" for line in few]):
        total += cost
        if total > most:
            break
        count += 1
    while count and count_tokens("\n".join(few[:count])) > most:
        count -= 1
    return few[:count]


def _beginning(line: str, most: int) -> str:
    """As much of one line as fits."""
    # No tokenizer makes a token of so many characters everywhere.
    end = min(len(line), most * 16)
    while end and count_tokens(line[:end]) > most:
        end = end * 3 // 4
    return line[:end]


def _matched(
    connection: sqlite3.Connection, question: CodeQuestion, ids: Sequence[int]
) -> dict[int, list[str]]:
    """The words of the question that each of ``ids`` has, in any form."""
    found: dict[int, list[str]] = {}
    marks = ", ".join("?" * len(ids))
    for word in question.words if ids else ():
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? AND rowid IN ({marks})",
            (f'"{word}"', *ids),
        )
        for (piece,) in rows:
            found.setdefault(piece, []).append(word)
    return found
