"""Markdown, by markdown-it: CommonMark with tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from dcf.documents.block import Block, BlockKind, Reading
from dcf.documents.formats.decoding import decoded
from dcf.documents.formats.text import paragraphs

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
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
    for token in _PARSER.parse("\n".join(lines[begin:])):
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, last = (begin + one for one in token.map)
        while last > first and not lines[last - 1].strip():
            last -= 1
        block = _block(token, "\n".join(lines[first:last]), page)
        if block.kind == "heading" and not reading.title:
            reading.title = block.text.lstrip("# ").split("\n")[0]
        yield replace(block, first_line=first + 1, last_line=last) if numbered else block


def _block(token: Token, text: str, page: int | None) -> Block:
    kind = _KINDS.get(token.type, "text")
    level = int(token.tag[1:]) if kind == "heading" else 0
    return Block(kind, text, page=page, level=level, head=2 if kind == "table" else 0)


def _front(lines: list[str]) -> int:
    """How many lines the data has that stand before the text, between two rules."""
    if lines[0].rstrip() != _FENCE:
        return 0
    ends = (row for row, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    return next(ends, -1) + 1
