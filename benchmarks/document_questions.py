"""Labelled questions about documents: the headings of sections ask for what stands below them.

``document_questions.json`` says what is read: by set its repository, commit and licence, the files,
and of each question the path and line of its heading with a digest of heading and section. No text
of them is here. Where headings stand, numbers are put in their place before anything is searched.
Right is a piece that has a line of the section below the heading.

``python -m benchmarks.document_questions FOLDER`` lists the questions as they are now, after sets
were added; FOLDER holds their clones as ``owner/name``, bare or not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from benchmarks.clones import Clone, NotThere, file_of
from benchmarks.labelled import Labelled, LabelledSet, Scores, Search, Span, scored
from dcf.memory import SYSTEM, DocumentPiece, Memory, Source, random_id
from dcf.retrieval import SqliteDocuments
from dcf.search import words

_LIST = Path(__file__).with_suffix(".json")
_FIRST = 5
_HEADING = re.compile(r"^(?P<mark> *(?:\d+\. +)?#{1,6} +)(?P<title>.*?)\s*$")
_PARSER = MarkdownIt("commonmark").disable("inline")
_WORDS = 3
"""A heading of fewer, such as "Summary", asks nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """The heading in line ``first`` of a file, whose section ends with the line ``last``."""

    path: str
    first: int
    last: int
    text: str
    digest: str


def labelled_sets() -> Iterator[LabelledSet]:
    """Those that are listed."""
    for name, about in _listed().items():
        clone = Clone(about["repository"], about["commit"])
        yield LabelledSet(name, "documents", (clone,), partial(_score, name, about))


def _listed() -> dict[str, Any]:
    listed: dict[str, Any] = json.loads(_LIST.read_text(encoding="utf-8"))
    return listed


async def _score(name: str, about: Mapping[str, Any], clones: Path, embedder: str) -> Scores:
    texts = _texts(about, clones)
    asked = list(questions(texts, about["from"]))
    if _items(asked) != about["questions"]:
        raise NotThere(f"{name}: {clones / about['repository']} is not as {_LIST.name} lists it")
    return await score(without_headings(texts, about["from"]), asked, embedder)


def _texts(about: Mapping[str, Any], clones: Path) -> dict[str, str]:
    clone = clones / about["repository"]
    return {path: file_of(clone, about["commit"], path).decode() for path in about["files"]}


def _items(asked: Sequence[Question]) -> dict[str, str]:
    return {f"{one.path}#{one.first}": one.digest for one in asked}


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


def without_headings(texts: Mapping[str, str], begin: str) -> dict[str, str]:
    """The texts with a number in the place of each heading, and without what stands above the
    heading ``begin``: a table of contents repeats the questions word by word."""
    found = {}
    for path, text in texts.items():
        lines = text.split("\n")
        first = 0
        for row, match in _headings(lines):
            first = row if begin and match["title"] == begin else first
            lines[row] = f"{match['mark']}{row + 1}"
        # Lines keep their numbers.
        found[path] = "\n".join([*[""] * first, *lines[first:]])
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


async def score(texts: Mapping[str, str], asked: Sequence[Question], embedder: str) -> Scores:
    """What is found of ``texts``, by their paths, when their headings are ``asked``."""
    with tempfile.TemporaryDirectory(prefix="dcf-documents-") as name:
        folder, source = Path(name, "documents"), Source(Path(name, "memory.db"))
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        project = str(folder)
        async with Memory.open(source, clock=_now, new_id=random_id, embedder=embedder) as memory:
            async for report in memory.document_files.sync(folder, project=project, by=SYSTEM):
                assert report.outcome == "added", report
            await memory.search.catch_up()
            labelled = [Labelled(one.text, one.path, one.first + 1, one.last) for one in asked]
            pieces = {_place(one): one.text for one in await _pieces(memory, project)}
            return await scored(labelled, _search(memory, project), pieces, folder, _FIRST)


async def _pieces(memory: Memory, project: str) -> list[DocumentPiece]:
    documents = await memory.documents.list(project, limit=10_000)
    return [piece for one in documents for piece in await memory.documents.pieces(one)]


def _search(memory: Memory, project: str) -> Search:
    async def search(query: str) -> list[Span]:
        hits = await SqliteDocuments(memory).find(project, query, limit=_FIRST)
        return [_place(one.piece) for one in hits]

    return search


def _place(piece: DocumentPiece) -> Span:
    assert piece.first_line is not None and piece.last_line is not None
    return piece.path, piece.first_line, piece.last_line


def _now() -> int:
    return time.time_ns() // 1_000_000


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="clones as owner/name")
    folder: Path = parser.parse_args().folder
    listed = _listed()
    for about in listed.values():
        about["questions"] = _items(list(questions(_texts(about, folder), about["from"])))
    _LIST.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
