"""Tables with a row in each line: values between commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from dcf.documents.block import Block, Reading, table_lines
from dcf.documents.formats.text import decoded

_SIGNS = ",;\t|"
_AT_ONCE = 20
"""Rows of a block: few enough that its lines say where one of them stands."""


class _Row(NamedTuple):
    cells: list[str]
    first_line: int
    last_line: int


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """The rows, the first of which says what the columns are. Raises NotText."""
    text = decoded(data, reading)
    # A cell may be as long as its document. The limit is the process's own: others rely on it.
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    sign = max(_SIGNS, key=text.partition("\n")[0].count)
    rows = _rows(text, sign)
    head = next(rows, None)
    if head is None:
        return
    group = list(islice(rows, _AT_ONCE))
    yield _table(head, group)
    while group := list(islice(rows, _AT_ONCE)):
        yield _table(head, group)


def _rows(text: str, sign: str) -> Iterator[_Row]:
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), delimiter=sign)
    begun = 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield _Row(cells, begun, reader.line_num)
        begun = reader.line_num + 1


def _table(head: _Row, group: Sequence[_Row]) -> Block:
    placed = group or [head]
    text = "\n".join(table_lines([head.cells, *(row.cells for row in group)]))
    return Block("table", text, placed[0].first_line, placed[-1].last_line, head=2)
