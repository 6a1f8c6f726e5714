"""Labelled questions, and how well pieces of texts are found by them: ours and the peers.

The same pieces are searched by plain FTS5 (words as SQLite cuts them), by BM25 over stems with the
parts of names (k1 1.2 and b 0.75, as SQLite has it), both with the path of each piece, and by
ripgrep (how many words of the question stand in a piece, then how many lines have one). Stop words
are taken out of what all three are asked.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import pstdev
from typing import TypeAlias

from benchmarks.clones import Clone
from benchmarks.figure import quantile
from dcf.code.ripgrep import ripgrep
from dcf.search import spoken, telling_words

Span: TypeAlias = tuple[str, int, int]
"""The path of a file, the first and the last line of a piece."""
Search: TypeAlias = Callable[[str], Awaitable[Sequence[Span]]]

_NORMAL_95 = 1.96
"""Standard deviations to each side of the mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question; right is a piece of the file ``path`` with one of these lines."""

    text: str
    path: str
    first_line: int
    last_line: int

    def is_answered_by(self, span: Span) -> bool:
        path, first, last = span
        return path == self.path and first <= self.last_line and last >= self.first_line


@dataclass(frozen=True, slots=True)
class Found:
    """Of each question, in their order, whether the first piece was right and whether one of the
    first k was; ``p95_ms`` is the 95th percentile of one search."""

    firsts: tuple[bool, ...]
    among: tuple[bool, ...]
    p95_ms: float

    @property
    def hit_at_1(self) -> float:
        """A share, of 1."""
        return sum(self.firsts) / len(self.firsts)

    @property
    def recall(self) -> float:
        """A share, of 1."""
        return sum(self.among) / len(self.among)


@dataclass(frozen=True, slots=True)
class Scores:
    """``recall`` is among the first ``k`` pieces."""

    k: int
    ours: Found
    peers: Mapping[str, Found]

    @property
    def questions(self) -> int:
        return len(self.ours.among)

    @property
    def best_other(self) -> str:
        return max(self.peers, key=lambda name: self.peers[name].recall)

    @property
    def lead(self) -> float:
        """Our recall less that of the best other, in points."""
        return (self.ours.recall - self.peers[self.best_other].recall) * 100

    @property
    def doubt(self) -> float:
        """Half of the 95 % interval of ``lead``, in points: the same questions are asked of both,
        so that it is the mean of what each of them tells apart, about normal for some hundred."""
        other = self.peers[self.best_other].among
        told = [ours - theirs for ours, theirs in zip(self.ours.among, other, strict=True)]
        return 100 * _NORMAL_95 * pstdev(told) / math.sqrt(len(told))


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """``kind`` is what is searched; ``score`` takes the folder of the clones and an embedder, and
    raises ``NotThere`` where the questions are not those that are listed."""

    name: str
    kind: str
    clones: Sequence[Clone]
    score: Callable[[Path, str], Coroutine[None, None, Scores]]


async def scored(
    questions: Sequence[Labelled], ours: Search, pieces: Mapping[Span, str], root: Path, k: int
) -> Scores:
    """What we and the peers find of ``pieces``, which are of the files below ``root``."""
    peers = {
        "plain FTS5": PlainFts(pieces).search,
        "BM25": StemmedBm25(pieces).search,
        "ripgrep": PlainRipgrep(pieces, root).search,
    }
    print(f"  {len(questions)} questions, {len(pieces):,} pieces", file=sys.stderr, flush=True)
    found = {}
    for name, search in {"ours": ours, **peers}.items():
        one = found[name] = await measure(questions, search, k)
        print(
            f"  {name:<10} hit@1 {one.hit_at_1:.3f}  recall@{k} {one.recall:.3f}"
            f"  p95 {one.p95_ms:.1f} ms",
            file=sys.stderr,
            flush=True,
        )
    return Scores(k, found.pop("ours"), found)


async def measure(questions: Sequence[Labelled], search: Search, k: int) -> Found:
    """What ``search`` finds among its first ``k``."""
    firsts, among, took_ms = list[bool](), list[bool](), list[float]()
    for question in questions:
        began = time.perf_counter()
        spans = (await search(question.text))[:k]
        took_ms.append((time.perf_counter() - began) * 1e3)
        right = [question.is_answered_by(span) for span in spans]
        firsts.append(right[:1] == [True])
        among.append(any(right))
    return Found(tuple(firsts), tuple(among), quantile(took_ms, 0.95))


def together(sets: Sequence[Scores]) -> Scores:
    """The scores over all questions of sets of one kind; of the times the longest."""

    def over(each: Sequence[Found]) -> Found:
        return Found(
            tuple(chain.from_iterable(one.firsts for one in each)),
            tuple(chain.from_iterable(one.among for one in each)),
            max(one.p95_ms for one in each),
        )

    peers = {name: over([one.peers[name] for one in sets]) for name in sets[0].peers}
    return Scores(sets[0].k, over([one.ours for one in sets]), peers)


class PlainFts:
    """The pieces in a table of FTS5 as its manual begins."""

    def __init__(self, pieces: Mapping[Span, str]) -> None:
        self._spans = list(pieces)
        self._sql = sqlite3.connect(":memory:")
        self._sql.execute("CREATE VIRTUAL TABLE pieces USING fts5(path, text)")
        self._sql.executemany(
            "INSERT INTO pieces (rowid, path, text) VALUES (?, ?, ?)",
            ((row, span[0], text) for row, (span, text) in enumerate(pieces.items())),
        )

    async def search(self, question: str) -> list[Span]:
        return _matches(self._sql, telling_words(question), self._spans)


class StemmedBm25:
    """BM25 as textbooks have it, over stems of the words of a piece and of its names' parts."""

    def __init__(self, pieces: Mapping[Span, str]) -> None:
        self._spans = list(pieces)
        self._sql = sqlite3.connect(":memory:")
        self._sql.execute("CREATE VIRTUAL TABLE pieces USING fts5(body, tokenize = 'porter')")
        self._sql.executemany(
            "INSERT INTO pieces (rowid, body) VALUES (?, ?)",
            ((row, spoken(f"{span[0]} {text}")) for row, (span, text) in enumerate(pieces.items())),
        )

    async def search(self, question: str) -> list[Span]:
        return _matches(self._sql, telling_words(spoken(question)), self._spans)


def _matches(sql: sqlite3.Connection, words: Sequence[str], spans: Sequence[Span]) -> list[Span]:
    wanted = " OR ".join(f'"{word}"' for word in words)
    rows = sql.execute(
        "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 10", (wanted,)
    )
    return [spans[row] for (row,) in rows]


class PlainRipgrep:
    """Lines with a word of the question, counted in pieces."""

    def __init__(self, pieces: Mapping[Span, str], root: Path) -> None:
        self._root = root
        self._at = {
            (path, line): (path, first, last)
            for path, first, last in pieces
            for line in range(first, last + 1)
        }

    async def search(self, question: str) -> list[Span]:
        return await asyncio.to_thread(self._search, question)

    def _search(self, question: str) -> list[Span]:
        found: dict[Span, list[str]] = {}
        for path, line, word in self._lines(telling_words(question)):
            span = self._at.get((path, line))
            if span is not None:
                found.setdefault(span, []).append(word)
        return sorted(found, key=lambda span: (-len(set(found[span])), -len(found[span]), span))

    def _lines(self, words: Sequence[str]) -> Iterator[tuple[str, int, str]]:
        options = ["--no-config", "--no-heading", "--with-filename", "-noiF", "--null"]
        asked = [f"--regexp={word}" for word in words]
        # Its program is given whole, there is no shell.
        ran = subprocess.run(
            [ripgrep(), *options, *asked, "."], cwd=self._root, capture_output=True, check=False
        )
        for row in ran.stdout.decode(errors="replace").splitlines():
            path, _, rest = row.partition("\0")
            line, _, word = rest.partition(":")
            yield path.removeprefix("./"), int(line), word.lower()
