"""Plain text: what stands between empty lines belongs together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcf.documents.block import Block, Reading
from dcf.documents.formats.decoding import decoded


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The paragraphs of a text. Raises NotText."""
    yield from paragraphs(decoded(data, reading))


def paragraphs(text: str, first: int | None = 1, page: int | None = None) -> Iterator[Block]:
    """The paragraphs of ``text``, whose first line has the number ``first``; None: it has none."""
    lines = text.split("\n")
    begun: int | None = None
    for row in range(len(lines) + 1):
        blank = row == len(lines) or not lines[row].strip()
        if blank and begun is not None:
            block = Block("text", "\n".join(lines[begun:row]), page=page)
            if first is not None:
                block = replace(block, first_line=first + begun, last_line=first + row - 1)
            yield block
            begun = None
        elif not blank and begun is None:
            begun = row
