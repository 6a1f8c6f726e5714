"""Code, cut at functions and classes where its grammar is installed."""

from __future__ import annotations

from collections.abc import Iterator

from dcf.code import cut
from dcf.documents.block import Block, Reading
from dcf.documents.formats.text import decoded


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The definitions of a file, and what is between them. Raises NotText."""
    pieces, problems = cut(reading.path, decoded(data, reading))
    reading.problems += problems
    for piece in pieces:
        yield Block("definition", piece.text, piece.first_line, piece.last_line)
