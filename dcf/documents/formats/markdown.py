"""Markdown, by markdown-it: CommonMark with tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from dcf.documents.block import Block, BlockKind, Reading
from dcf.documents.formats.text import decoded, paragraphs

_KINDS: dict[str, BlockKind] = {
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
# Lines tell where blocks stand; what is in them stays as it is written.
_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
_FENCE = "---"


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The blocks of a document; its title is its first heading. Raises NotText."""
    yield from markdown(decoded(data, reading), reading)


def markdown(
    text: str, reading: Reading, page: int | None = None, *, numbered: bool = True
) -> Iterator[Block]:
    """The blocks of ``text``, of which ``page`` is the page; without numbers of lines if these are
    not those of a file."""
    lines = text.split("\n")
    begin = _front(lines)
    if begin:
        yield from paragraphs("\n".join(lines[:begin]), 1 if numbered else None, page)
    for block, first, last in _spans(_PARSER.parse("\n".join(lines[begin:]))):
        first, last = first + begin, last + begin
        while last > first and not lines[last - 1].strip():
            last -= 1
        if first == last:
            continue
        reading.title = reading.title or block.title
        block = replace(block, text="\n".join(lines[first:last]), page=page)
        yield replace(block, first_line=first + 1, last_line=last) if numbered else block


def _spans(tokens: Sequence[Token]) -> Iterator[tuple[Block, int, int]]:
    """Blocks without their texts, with their first line, from 0, and the one behind their last."""
    titles = {
        token.map[0]: (token, inline.content)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.map is not None
    }
    for token in tokens:
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, last = token.map
        kind = _KINDS.get(token.type, "text")
        # Headings stand in lists too, and in quotations: there they begin something as well.
        for row in [row for row in range(first, last) if row in titles]:
            if first < row:
                yield Block(kind, ""), first, row
            heading, title = titles[row]
            first = heading.map[1] if heading.map else row + 1
            yield Block("heading", "", level=int(heading.tag[1:]), title=title), row, first
        if first < last:
            yield Block(kind, "", head=2 if kind == "table" else 0), first, last


def _front(lines: list[str]) -> int:
    """How many lines the data has that stand before the text, between two rules."""
    if lines[0].rstrip() != _FENCE:
        return 0
    ends = (row for row, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    return next(ends, -1) + 1
