"""HTML, by the parser of the standard library: it says in which line a text stands."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from dcf.documents.block import Block, BlockKind, Reading, table_lines
from dcf.documents.formats.decoding import decoded

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object"})
_BREAKS = frozenset(
    {"p", "div", "li", "ul", "ol", "dl", "dt", "dd", "section", "article", "main", "header"}
    | {"footer", "nav", "aside", "blockquote", "figure", "figcaption", "form", "hr", "body"}
    | {"address", "details", "summary", "fieldset", "table", "pre", "title", *_HEADINGS}
)
_CELLS = frozenset({"td", "th"})
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_ENDS = _CELLS | _ROW_GROUPS | {"tr", "caption"}
_TALLEST, _WIDEST = 65_534, 1_000
"""Rows and columns of a cell, at most: HTML Standard, 4.9.11."""
_CHUNK = 65_536


def blocks(data: bytes, reading: Reading) -> Iterator[Block]:
    """What of a page is seen. Raises NotText."""
    yield from seen(decoded(data, reading), reading)


def seen(text: str, reading: Reading) -> Iterator[Block]:
    """The blocks of ``text``, which is HTML."""
    page = _Page()
    for at in range(0, len(text), _CHUNK):
        page.feed(text[at : at + _CHUNK])
        yield from page.taken()
    page.close()
    page.end()
    yield from page.taken()
    reading.title = reading.title or page.title


class _Table:
    """Rows of as many cells as they have columns, whichever end tags are left out; what is behind
    the first of its rows or columns of a cell is empty."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.rows: list[list[str]] = []
        self.in_cell = False
        self._wide = 1
        self._below: dict[int, int] = {}
        """How many rows more a column is taken by a cell of a row above."""
        self._taken: frozenset[int] = frozenset()

    def begin_row(self) -> None:
        self.rows.append([])
        self._taken = frozenset(self._below)
        self._below = {at: left - 1 for at, left in self._below.items() if left > 1}

    def begin_group(self) -> None:
        """No cell of a row above goes on here."""
        self._below = {}

    def begin_cell(self, attrs: list[tuple[str, str | None]]) -> None:
        if not self.rows:
            self.begin_row()
        row, said = self.rows[-1], dict(attrs)
        while len(row) in self._taken:
            row.append("")
        self.in_cell = True
        self._wide = _number(said.get("colspan"), _WIDEST) or 1
        tall = _number(said.get("rowspan"), _TALLEST)
        if tall != 1:
            columns = range(len(row), len(row) + self._wide)
            self._below.update(dict.fromkeys(columns, (tall or _TALLEST) - 1))

    def end_cell(self, text: str) -> None:
        self.rows[-1] += [text, *[""] * (self._wide - 1)]
        self.in_cell = False


def _number(text: str | None, most: int) -> int:
    """What an attribute says, at most ``most``; 1 where it says no number."""
    digits = (text or "").strip()
    return min(int(digits[:9]), most) if digits.isascii() and digits.isdigit() else 1


class _Page(HTMLParser):
    """Puts together what stands between tags that begin a new line."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._blocks: list[Block] = []
        self._said: list[str] = []
        self._line = 1
        self._tag = ""
        self._unseen = 0
        self._kept_blanks = 0
        # Of a table, and of one inside of it, only the outermost has rows of its own.
        self._tables = 0
        self._table = _Table(1)

    def taken(self) -> list[Block]:
        """The blocks that ended since it was last asked."""
        blocks, self._blocks = self._blocks, []
        return blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "br":
            self._said.append("\n" if self._kept_blanks else " ")
        elif self._tables:
            self._begin_in_table(tag, attrs)
        elif tag in _BREAKS:
            self.end_block()
            self._tag = tag
            self._kept_blanks += tag == "pre"
            if tag == "table":
                self._tables = 1
                self._table = _Table(self.getpos()[0])

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif self._tables:
            self._end_in_table(tag)
        elif tag in _BREAKS:
            self.end_block()
            self._kept_blanks = max(0, self._kept_blanks - (tag == "pre"))

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if not self._said and data.strip():
            before = data[: len(data) - len(data.lstrip())]
            self._line = self.getpos()[0] + before.count("\n")
        if self._said or data.strip():
            self._said.append(data)

    def end_block(self) -> None:
        """What was said since the last one is a block."""
        text = self._text()
        tag, self._tag = self._tag, ""
        if not text:
            return
        if tag == "title":
            self.title = self.title or text
            return
        kind: BlockKind = "heading" if tag in _HEADINGS else "code" if tag == "pre" else "text"
        shown = f"- {text}" if tag == "li" else text
        self._add(kind, shown, _HEADINGS.get(tag, 0))

    def end(self) -> None:
        """There is no more; a table may be open still."""
        if self._tables:
            self._end_table()
        self.end_block()

    def _begin_in_table(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tables += tag == "table"
        if self._tables > 1:
            return
        if tag in _CELLS:
            self._end_cell()
            self._table.begin_cell(attrs)
        elif tag == "tr":
            self._end_cell()
            self._table.begin_row()
        elif tag in _ROW_GROUPS:
            self._end_cell()
            self._table.begin_group()

    def _end_in_table(self, tag: str) -> None:
        if tag in _ENDS and self._tables == 1:
            self._end_cell()
        if tag == "table":
            self._tables -= 1
            if not self._tables:
                self._end_table()

    def _end_cell(self) -> None:
        """What was said ends the cell that is open; else it is a caption."""
        text = self._text()
        if self._table.in_cell:
            self._table.end_cell(text)
        elif text:
            self._add("text", text)

    def _end_table(self) -> None:
        self._end_cell()
        self._tables = 0
        rows = [row for row in self._table.rows if any(row)]
        if rows:
            self._line = self._table.line
            self._add("table", "\n".join(table_lines(rows)), head=2)

    def _text(self) -> str:
        said, self._said = "".join(self._said), []
        if self._kept_blanks:
            return said.strip("\n")
        return " ".join(said.split())

    def _add(self, kind: BlockKind, text: str, level: int = 0, head: int = 0) -> None:
        last = max(self._line, self.getpos()[0])
        self._blocks.append(Block(kind, text, self._line, last, level=level, head=head))
