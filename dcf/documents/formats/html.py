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
    page.end_block()
    yield from page.taken()
    reading.title = reading.title or page.title


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
        self._rows: list[list[str]] = []

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
            self._begin_in_table(tag)
        elif tag in _BREAKS:
            self.end_block()
            self._tag = tag
            self._tables += tag == "table"
            self._kept_blanks += tag == "pre"

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

    def _begin_in_table(self, tag: str) -> None:
        self._tables += tag == "table"
        if tag == "tr" and self._tables == 1:
            self._rows.append([])
        elif tag in ("td", "th") and self._tables == 1:
            self._end_cell()

    def _end_in_table(self, tag: str) -> None:
        if tag in ("td", "th", "tr") and self._tables == 1:
            self._end_cell()
        self._tables -= tag == "table"
        if tag == "table" and not self._tables:
            self._end_cell()
            rows, self._rows = [row for row in self._rows if row], []
            if rows:
                self._add("table", "\n".join(table_lines(rows)), head=2)

    def _end_cell(self) -> None:
        text = self._text()
        if text:
            self._rows = self._rows or [[]]
            self._rows[-1].append(text)

    def _text(self) -> str:
        said, self._said = "".join(self._said), []
        if self._kept_blanks:
            return said.strip("\n")
        return " ".join(said.split())

    def _add(self, kind: BlockKind, text: str, level: int = 0, head: int = 0) -> None:
        last = max(self._line, self.getpos()[0])
        self._blocks.append(Block(kind, text, self._line, last, level=level, head=head))
