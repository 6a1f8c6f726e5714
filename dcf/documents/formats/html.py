"""HTML, by the parser of the standard library: it says in which line a text stands."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from dcf.documents.block import Block, BlockKind, Reading, table_lines
from dcf.documents.formats.text import decoded

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
_DEEPEST = 50
"""Tables inside of each other that have rows: the words of each are read with those around it."""
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
    """Rows of as many cells as they have columns, whichever end tags are left out; what a cell says
    that takes several rows or columns stands in all of them. A table inside of a cell that has
    columns of its own stands behind it, and is words of the cell otherwise."""

    def __init__(self, line: int, before: list[str]) -> None:
        self.line = line
        self.before = before
        """What the cell around it says before it."""
        self.inside: list[Block] = []
        self.in_cell = False
        self._rows: list[list[str]] = []
        self._said: list[str] = []
        self._wide = self._tall = 1
        self._columns = 0
        self._below: dict[int, tuple[int, str]] = {}
        """For how many rows more a cell of a row above takes a column, and what it says."""
        self._taken: dict[int, str] = {}

    @property
    def rows(self) -> list[list[str]]:
        """Those that say something, in the columns in which a cell begins."""
        cut = (row[: self._columns] for row in self._rows)
        return [row for row in cut if any(row)]

    @property
    def has_columns(self) -> bool:
        """Whether a word stands below another, and one beside it."""
        return self._columns > 1 and len(self.rows) > 1

    @property
    def said(self) -> str:
        """Its words, those of each cell once."""
        return " ".join(self._said)

    def begin_row(self) -> None:
        self.end_row()
        self._rows.append([])
        self._taken = {at: text for at, (_, text) in self._below.items()}
        self._below = {at: (left - 1, text) for at, (left, text) in self._below.items() if left > 1}

    def end_row(self) -> None:
        """What goes on from above may stand behind the last cell; without one there is no row."""
        if self._rows and self._rows[-1]:
            self._go_on()

    def begin_group(self) -> None:
        """No cell of a row above goes on here."""
        self.end_row()
        self._below = {}
        self._taken = {}

    def begin_cell(self, attrs: list[tuple[str, str | None]]) -> None:
        if not self._rows:
            self.begin_row()
        said = dict(attrs)
        self._go_on()
        self._columns = max(self._columns, len(self._rows[-1]) + 1)
        self.in_cell = True
        self._wide = _number(said.get("colspan"), _WIDEST) or 1
        self._tall = _number(said.get("rowspan"), _TALLEST) or _TALLEST

    def end_cell(self, text: str) -> None:
        row = self._rows[-1]
        if self._tall > 1:
            columns = range(len(row), len(row) + self._wide)
            self._below.update(dict.fromkeys(columns, (self._tall - 1, text)))
        row += [text] * self._wide
        self._said += [text] if text else []
        self.in_cell = False

    def _go_on(self) -> None:
        row = self._rows[-1]
        while len(row) in self._taken:
            row.append(self._taken[len(row)])


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
        self._tables: list[_Table] = []
        """Those that are open, each in a cell of the one before."""
        self._deeper = 0

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
                self._begin_table()

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
        while self._tables:
            self._end_table()
        self.end_block()

    def _begin_in_table(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        table = self._tables[-1]
        if tag == "table":
            self._begin_table()
        elif tag in _CELLS:
            self._end_cell()
            table.begin_cell(attrs)
        elif tag == "tr":
            self._end_cell()
            table.begin_row()
        elif tag in _ROW_GROUPS:
            self._end_cell()
            table.begin_group()
        else:
            self._break(tag)

    def _end_in_table(self, tag: str) -> None:
        if tag == "table" and self._deeper:
            self._deeper -= 1
        elif tag == "table":
            self._end_table()
        elif tag in _ENDS:
            self._end_cell()
        else:
            self._break(tag)

    def _break(self, tag: str) -> None:
        """A cell is one line: where a block begins or ends in it, another word does."""
        if tag in _BREAKS and self._said:
            self._said.append(" ")

    def _begin_table(self) -> None:
        if len(self._tables) == _DEEPEST:
            self._deeper += 1
            return
        before, self._said = self._said, []
        self._tables.append(_Table(self.getpos()[0], before))

    def _end_cell(self) -> None:
        """What was said ends the cell that is open; else it is a caption."""
        text = self._text()
        if self._tables[-1].in_cell:
            self._tables[-1].end_cell(text)
        elif text:
            self._add("text", text)

    def _end_table(self) -> None:
        self._end_cell()
        table = self._tables.pop()
        table.end_row()
        blocks = [*self._block_of(table), *table.inside]
        if not self._tables:
            self._blocks += blocks
            return
        self._said = table.before
        self._tables[-1].inside += blocks
        if not table.has_columns and table.said:
            self._said += [" ", table.said, " "]

    def _block_of(self, table: _Table) -> Iterator[Block]:
        rows = table.rows
        if rows and (table.has_columns or not self._tables):
            text = "\n".join(table_lines(rows))
            yield Block("table", text, table.line, self.getpos()[0], head=2)

    def _text(self) -> str:
        said, self._said = "".join(self._said), []
        if self._kept_blanks:
            return said.strip("\n")
        return " ".join(said.split())

    def _add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        last = max(self._line, self.getpos()[0])
        self._blocks.append(Block(kind, text, self._line, last, level=level))
