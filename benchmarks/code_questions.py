"""How well functions are found by what is said of them: ``python -m benchmarks.code_questions``.

The questions are the first sentences of docstrings; the docstrings are taken out of what is
searched. There are two sets: ``known``, of our own sources and the packages that we build on, on
docstrings of which the weights of the retriever were chosen, and ``unseen``, of packages on which
nothing was. With ``--clones FOLDER``, which holds clones as ``owner/name``, there are
``typescript`` and ``go`` besides, of the repositories in ``code_clones.json``; nothing was chosen
on those either. Beside the retriever the same pieces are searched by plain FTS5 (words as SQLite
cuts them), by BM25 over stems with the parts of names (k1 1.2 and b 0.75, as SQLite has it) and by
ripgrep (how many words of the question stand in a piece, then how many lines have one). Right is a
piece that holds the first line of the function; one that does the same elsewhere is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.code_clones import LANGUAGES, write_clones
from benchmarks.code_corpus import Question, write_corpus
from benchmarks.figure import quantile
from dcf.code import CodeRetriever
from dcf.code.ripgrep import ripgrep
from dcf.search import EMBEDDERS, embedder_named, spoken, telling_words

_OURS = ("dcf", "control_plane")
_PACKAGES = (
    *("httpx2", "jsonschema", "mcp", "pydantic", "redis", "regex"),
    *("rich", "starlette", "typer", "uvicorn", "yaml"),
)
_UNSEEN = (
    *("_pytest", "anyio", "attr", "click", "coverage", "dateutil"),
    *("hypothesis", "prompt_toolkit", "pygments", "watchfiles", "xdist"),
)
_SETS = {"known": (_OURS, _PACKAGES), "unseen": ((), _UNSEEN)}
_COUNT = 400

Span: TypeAlias = tuple[str, int, int]
"""The path of a file, the first and the last line of a piece."""
Search: TypeAlias = Callable[[str], Awaitable[Sequence[Span]]]


@dataclass(frozen=True, slots=True)
class Found:
    """Shares of 1; ``p95_ms`` is the 95th percentile of one search."""

    hit_at_1: float
    recall_at_10: float
    p95_ms: float


async def measure(questions: Sequence[Question], search: Search) -> Found:
    """What ``search`` finds: a piece is right where it holds the first line of the function."""
    firsts, tens, took_ms = 0, 0, list[float]()
    for question in questions:
        began = time.perf_counter()
        spans = (await search(question.text))[:10]
        took_ms.append((time.perf_counter() - began) * 1e3)
        right = [
            path == question.path and first <= question.first_line <= last
            for path, first, last in spans
        ]
        firsts += right[:1] == [True]
        tens += any(right)
    return Found(firsts / len(questions), tens / len(questions), quantile(took_ms, 0.95))


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
        wanted = " OR ".join(f'"{word}"' for word in telling_words(question))
        rows = self._sql.execute(
            "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 10", (wanted,)
        )
        return [self._spans[row] for (row,) in rows]


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
        wanted = " OR ".join(f'"{word}"' for word in telling_words(spoken(question)))
        rows = self._sql.execute(
            "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 10", (wanted,)
        )
        return [self._spans[row] for (row,) in rows]


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
        options = ["--no-config", "--no-heading", "--with-filename", "-noiwF", "--null"]
        asked = [f"--regexp={word}" for word in words]
        # Its program is given whole, there is no shell.
        ran = subprocess.run(
            [ripgrep(), *options, *asked, "."], cwd=self._root, capture_output=True, check=False
        )
        for row in ran.stdout.decode(errors="replace").splitlines():
            path, _, rest = row.partition("\0")
            line, _, word = rest.partition(":")
            yield path.removeprefix("./"), int(line), word.lower()


def places(which: str) -> list[tuple[str, Path]]:
    """Our rooms and the packages of a set, those that are installed."""
    here = Path(__file__).parents[1]
    ours, packages = _SETS[which]
    found = [(name, here / name) for name in ours]
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found.append((name, Path(spec.origin).parent))
    return found


async def report(
    which: str, count: int, embedders: Sequence[str], clones: Path | None = None
) -> tuple[int, dict[str, Found]]:
    """Print the scores of all four on one set; the number of its questions, and what each found."""
    scores: dict[str, Found] = {}

    async def score(name: str, search: Search) -> None:
        scores[name] = await measure(questions, search)
        _show(name, scores[name])

    with tempfile.TemporaryDirectory(prefix="dcf-code-") as folder:
        root = Path(folder) / "corpus"
        if clones is not None and which in LANGUAGES:
            questions = await asyncio.to_thread(write_clones, which, clones, root, count)
        else:
            questions = await asyncio.to_thread(write_corpus, places(which), root, count)
        print(f"{which}: {len(questions)} questions", flush=True)
        for embedder in embedders:
            used = None if embedder == "none" else embedder_named(embedder)
            index = Path(folder) / f"{embedder}.db"
            retriever = CodeRetriever(root, index, used)
            began = time.perf_counter()
            synced = await retriever.sync()
            took = time.perf_counter() - began
            await score(f"retriever, {embedder}", _asking(retriever))
            print(f"    {synced.files:,} files indexed in {took:.1f} s", flush=True)
        pieces = _pieces(index)
        await score("plain FTS5", PlainFts(pieces).search)
        await score("BM25, stems", StemmedBm25(pieces).search)
        await score("ripgrep", PlainRipgrep(pieces, root).search)
    return len(questions), scores


def report_all(sets: Sequence[tuple[int, Mapping[str, Found]]]) -> None:
    """Print the scores over all questions of several sets."""
    total = sum(count for count, _ in sets)
    print(f"all: {total} questions")
    for name in sets[0][1]:
        first = sum(count * found[name].hit_at_1 for count, found in sets) / total
        among_ten = sum(count * found[name].recall_at_10 for count, found in sets) / total
        print(f"{name:<22} hit@1 {first:.3f}  recall@10 {among_ten:.3f}")


def _asking(retriever: CodeRetriever) -> Search:
    async def search(question: str) -> list[Span]:
        hits = await retriever.find(question, tokens=4_000)
        return [(hit.path, hit.first_line, hit.last_line) for hit in hits]

    return search


def _pieces(index: Path) -> dict[Span, str]:
    with closing(sqlite3.connect(index)) as connection:
        rows = connection.execute(
            "SELECT path, first_line, last_line, text FROM pieces p JOIN files f ON f.id = p.file"
        )
        return {(path, first, last): text for path, first, last, text in rows}


def _show(name: str, found: Found) -> None:
    print(
        f"{name:<22} hit@1 {found.hit_at_1:.3f}  recall@10 {found.recall_at_10:.3f}"
        f"  p95 {found.p95_ms:.1f} ms",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the questions, and ask them."""
    parser = argparse.ArgumentParser(prog="benchmarks.code_questions", description=__doc__)
    parser.add_argument("--count", type=int, default=_COUNT, help="questions (default: 400)")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--set", action="append", choices=(*_SETS, *LANGUAGES))
    parser.add_argument("--clones", type=Path, metavar="FOLDER", help="clones as owner/name")
    options = parser.parse_args(arguments)
    if options.clones is None and set(options.set or ()).intersection(LANGUAGES):
        parser.error("the sets typescript and go are made of --clones FOLDER")
    embedders = options.embedder or ("none", "wordllama")
    sets = options.set or (*_SETS, *(LANGUAGES if options.clones else ()))
    found = [asyncio.run(report(one, options.count, embedders, options.clones)) for one in sets]
    if len(found) > 1:
        report_all(found)


if __name__ == "__main__":
    main()
