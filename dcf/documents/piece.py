"""What is kept of a document: pieces, cut from its blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dcf.documents.block import Block
from dcf.problem import Problem
from dcf.search import words

LONGEST = 1_600
"""Characters of a piece: about a page of a book, and what an embedder still tells apart."""


@dataclass(frozen=True, slots=True)
class ReadPiece:
    """A part of a document that stands under one heading and on one page. ``headings`` are those
    above it, the outermost first; lines and page as in ``Block``."""

    text: str
    headings: tuple[str, ...] = ()
    first_line: int | None = None
    last_line: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as it was read, without the secrets that were in it. ``problems`` are warnings."""

    title: str
    format: str
    pieces: tuple[ReadPiece, ...]
    pages: int | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ReadDocument:
        """From what ``dataclasses.asdict`` made, through JSON."""
        pieces = (
            ReadPiece(**{**one, "headings": tuple(one["headings"])}) for one in value["pieces"]
        )
        problems = (Problem(**one) for one in value["problems"])
        return cls(**{**value, "pieces": tuple(pieces), "problems": tuple(problems)})


@dataclass(slots=True)
class _Open:
    """The piece that is being put together."""

    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    @property
    def says(self) -> bool:
        """Whether it has more than headings: these go with what stands under them."""
        # A heading stands behind headings alone: what says something is closed before it.
        return bool(self.blocks) and self.blocks[-1].kind != "heading"


def pieces_of(blocks: Iterable[Block]) -> Iterator[ReadPiece]:
    """A piece has what stands under one heading and on one page, up to its size; a longer table is
    several, each with the names of its columns. Each line with a letter or a digit is in one."""
    above: list[Block] = []
    current = _Open()
    for block in blocks:
        if block.kind == "heading":
            if current.says:
                yield from _closed(current, above)
            while above and above[-1].level >= block.level:
                above.pop()
            above.append(block)
        elif block.kind == "definition" or (
            current.blocks and current.blocks[-1].page != block.page
        ):
            yield from _closed(current, above)
        for part in _parts(block):
            if current.says and current.size + len(part.text) > LONGEST:
                yield from _closed(current, above)
            current.blocks.append(part)
            current.size += len(part.text)
    yield from _closed(current, above)


def _closed(current: _Open, above: list[Block]) -> Iterator[ReadPiece]:
    blocks, current.blocks, current.size = current.blocks, [], 0
    text = "\n\n".join(block.text.strip("\n") for block in blocks)
    if not words(text):
        return
    headings = tuple(" ".join((one.title or one.text).split()) for one in above)
    firsts = [one.first_line for one in blocks if one.first_line is not None]
    lasts = [one.last_line for one in blocks if one.last_line is not None]
    yield ReadPiece(
        text,
        headings,
        min(firsts, default=None),
        max(lasts, default=None),
        blocks[0].page,
    )


def _parts(block: Block) -> Iterator[Block]:
    """The block in parts of whole lines, none longer than a piece but for a line that is."""
    if len(block.text) <= LONGEST:
        yield block
        return
    lines = block.text.split("\n")
    counted = _has_lines(block, len(lines))
    head = "\n".join(lines[: block.head])
    begun, size = 0, 0
    for row in range(len(lines) + 1):
        over = row < len(lines) and size + len(lines[row]) > LONGEST - len(head)
        if row > begun and (row == len(lines) or over):
            part = _part(block, lines, begun, row, counted=counted)
            if begun and head:
                part = replace(part, text=f"{head}\n{part.text}")
            yield from _of_long_lines(part)
            begun, size = row, 0
        if row < len(lines):
            size += len(lines[row]) + 1


def _part(block: Block, lines: list[str], begun: int, end: int, *, counted: bool) -> Block:
    text = "\n".join(lines[begun:end])
    if not counted or block.first_line is None:
        return replace(block, text=text)
    first = block.first_line + begun
    return replace(block, text=text, first_line=first, last_line=block.first_line + end - 1)


def _of_long_lines(part: Block) -> Iterator[Block]:
    """A line that is longer than a piece is cut at a blank, or where it must be."""
    text = part.text
    while len(text) > 2 * LONGEST:
        blank = text.rfind(" ", LONGEST // 2, LONGEST)
        end = LONGEST if blank < 0 else blank
        yield replace(part, text=text[:end])
        text = text[end:]
    yield replace(part, text=text)


def _has_lines(block: Block, count: int) -> bool:
    """Whether each of its ``count`` lines is one of the file."""
    if block.first_line is None or block.last_line is None:
        return False
    return block.last_line - block.first_line + 1 == count
