"""How well pieces of documents are found: ``python -m benchmarks.document_questions FOLDER``.

FOLDER holds clones as ``owner/name``, bare or not. ``document_questions.json`` says what is read of
them: by set its repository, commit and licence, the files, and of each question the path and line
of its heading with a digest of heading and section. No text of them is here. A question is the
heading of a section; where headings stand, numbers are put in their place before anything is
searched. Right is a piece that has a line of the section below the heading.

Beside the search of documents the same pieces are searched by plain FTS5 (BM25 over the words as
SQLite cuts them) and by BM25 over stems without stop words (k1 1.2 and b 0.75, as SQLite has it).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from markdown_it import MarkdownIt
from rich.console import Console
from rich.table import Table

from benchmarks.public_machines import file_of
from dcf.memory import SYSTEM, DocumentPiece, Memory, Source, random_id
from dcf.retrieval import MemoryDocuments
from dcf.retrieval.word_table import WordTable
from dcf.search import EMBEDDERS, words

_LIST = Path(__file__).with_suffix(".json")
_FIRST = 5
_HEADING = re.compile(r"^(?P<mark> *(?:\d+\. +)?#{1,6} +)(?P<title>.*?)\s*$")
_PARSER = MarkdownIt("commonmark").disable("inline")
_WORDS = 3
"""A heading of fewer, such as "Summary", asks nothing."""

Found: TypeAlias = Sequence[tuple[str, int, int]]
"""Of pieces, the best first: the path, the first and the last line."""
Search: TypeAlias = Callable[[str], Awaitable[Found]]


@dataclass(frozen=True, slots=True)
class Question:
    """The heading in line ``first`` of a file, whose section ends with the line ``last``."""

    path: str
    first: int
    last: int
    text: str
    digest: str


def main() -> int:
    """Print a table by set; 1 where one is not as listed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="clones as owner/name")
    parser.add_argument("--embedder", action="append", choices=EMBEDDERS)
    parser.add_argument("--write", action="store_true", help="list the questions as they are now")
    options = parser.parse_args()
    embedders = options.embedder or ["none", "wordllama", "minilm"]
    listed: dict[str, Any] = json.loads(_LIST.read_text(encoding="utf-8"))
    beside = ("plain FTS5", "BM25")
    shown = Table("set", "questions", *beside, *embedders, title=f"recall@{_FIRST}", box=None)
    console, failed = Console(width=120), False
    for name, about in listed.items():
        repository = options.folder / about["repository"]
        texts = {
            path: file_of(repository, about["commit"], path).decode() for path in about["files"]
        }
        asked = list(questions(texts, about["from"]))
        items = {f"{one.path}#{one.first}": one.digest for one in asked}
        if options.write:
            about["questions"] = items
        elif items != about["questions"]:
            console.print(f"not as listed: {name} in {repository}")
            failed = True
            continue
        recalls = asyncio.run(measure(without_headings(texts), asked, embedders))
        shown.add_row(name, str(len(asked)), *(f"{one:.3f}" for one in recalls.values()))
    if options.write:
        _LIST.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    console.print(shown)
    return int(failed)


def questions(texts: Mapping[str, str], begin: str) -> Iterator[Question]:
    """One for each heading, from the first that is ``begin`` on, that has some words and that no
    other one is like; those of empty sections are left out."""
    sections = [(path, *one) for path, text in texts.items() for one in _sections(text)]
    times = Counter(title for _, _, _, title, _ in sections)
    begun = not begin
    for path, first, last, title, content in sections:
        begun = begun or title == begin
        if begun and times[title] == 1 and len(words(title)) >= _WORDS and words(content):
            digest = hashlib.sha256(f"{title}\n{content}".encode()).hexdigest()[:16]
            yield Question(path, first, last, title, digest)


def without_headings(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts with a number in the place of each heading."""
    found = {}
    for path, text in texts.items():
        lines = text.split("\n")
        for row, match in _headings(lines):
            lines[row] = f"{match['mark']}{row + 1}"
        found[path] = "\n".join(lines)
    return found


def _sections(text: str) -> Iterator[tuple[int, int, str, str]]:
    lines = text.split("\n")
    begins = [*_headings(lines), (len(lines), None)]
    for (row, match), (end, _) in pairwise(begins):
        if match is not None:
            yield row + 1, end, match["title"], "\n".join(lines[row + 1 : end])


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for token in _PARSER.parse("\n".join(lines)):
        if token.type == "heading_open" and token.map is not None:
            match = _HEADING.match(lines[token.map[0]])
            if match is not None:
                yield token.map[0], match


async def measure(
    texts: Mapping[str, str], asked: Sequence[Question], embedders: Sequence[str]
) -> dict[str, float]:
    """The share of questions with a right piece among the first five, by what searches."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="dcf-documents-") as name:
        folder = Path(name, "documents")
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        for embedder in embedders:
            source = Source(Path(name) / f"{embedder}.db")
            async with Memory.open(
                source, clock=_now, new_id=random_id, embedder=embedder
            ) as memory:
                async for report in memory.document_files.sync(
                    folder, project=str(folder), by=SYSTEM
                ):
                    assert report.outcome == "added", report
                await memory.search.catch_up()
                if not found:
                    pieces = await _pieces(memory, str(folder))
                    for beside, search in (("plain FTS5", _fts5), ("BM25", _bm25)):
                        found[beside] = await recall(asked, search(pieces))
                found[embedder] = await recall(asked, _search(memory, str(folder)))
    return found


async def recall(asked: Sequence[Question], search: Search) -> float:
    """The share of questions for which one of the first five pieces is right."""
    right = 0
    for one in asked:
        found = (await search(one.text))[:_FIRST]
        right += any(
            path == one.path and first <= one.last and last > one.first
            for path, first, last in found
        )
    return right / len(asked)


async def _pieces(memory: Memory, project: str) -> list[DocumentPiece]:
    documents = await memory.documents.list(project, limit=10_000)
    return [piece for one in documents for piece in await memory.documents.pieces(one)]


def _search(memory: Memory, project: str) -> Search:
    async def search(query: str) -> Found:
        hits = await MemoryDocuments(memory).find(project, query, limit=_FIRST)
        return [_place(one.piece) for one in hits]

    return search


def _fts5(pieces: Sequence[DocumentPiece]) -> Search:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(body)")
    connection.executemany("INSERT INTO texts VALUES (?)", [(one.text,) for one in pieces])

    async def search(query: str) -> Found:
        wanted = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        with closing(
            connection.execute(
                "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?",
                (wanted, _FIRST),
            )
        ) as rows:
            return [_place(pieces[row - 1]) for (row,) in rows]

    return search


def _bm25(pieces: Sequence[DocumentPiece]) -> Search:
    table = WordTable()
    table.put((number, one.text) for number, one in enumerate(pieces))

    async def search(query: str) -> Found:
        return [_place(pieces[number]) for number in table.best(query)[:_FIRST]]

    return search


def _place(piece: DocumentPiece) -> tuple[str, int, int]:
    assert piece.first_line is not None and piece.last_line is not None
    return piece.path, piece.first_line, piece.last_line


def _now() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    sys.exit(main())
