"""Notebooks of Jupyter: cells, and what code in them printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from dcf.documents.block import Block, Reading
from dcf.documents.errors import Corrupt
from dcf.documents.formats.markdown import markdown
from dcf.documents.formats.text import decoded, paragraphs

_PRINTED = 4_000
"""Characters of what a cell printed that are kept: the rest is seldom what one looks for."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The cells, each of which is a page. Raises NotText, Corrupt."""
    try:
        book = json.loads(decoded(data, reading))
    except ValueError as error:
        raise Corrupt(format="notebook", reason=f"it is no JSON: {error}") from error
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        raise Corrupt(format="notebook", reason="it has no list of cells (nbformat 4)")
    reading.pages = len(cells)
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            raise Corrupt(format="notebook", reason=f"cell {number:,} is no object")
        source = _text(cell.get("source"))
        if cell.get("cell_type") == "markdown":
            yield from markdown(source, reading, number, numbered=False)
        elif source.strip():
            yield Block("code", source, page=number)
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else ():
            yield from paragraphs(_printed(output)[:_PRINTED], None, number)


def _printed(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "error":
        return _failure(output)
    data = output.get("data")
    shown = data.get("text/plain") if isinstance(data, dict) else None
    return _text(output.get("text") or shown)


def _failure(output: dict[str, Any]) -> str:
    """What went wrong, and where: traces are cut at their end, and coloured for a terminal."""
    trace = output.get("traceback")
    lines = [one for one in trace if isinstance(one, str)] if isinstance(trace, list) else []
    said = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    return _COLOUR.sub("", "\n".join([said, *lines]))


def _text(value: Any) -> str:
    """A text, or a list of its lines, as notebooks have either."""
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""
