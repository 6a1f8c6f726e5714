"""DOCX as HTML with a line for each paragraph that has words, by python-docx: headings, nested
lists with their numbers, code by its font, tables, what stands in boxes and notes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from dcf.documents.block import Reading
from dcf.documents.formats.docx import around, boxed, notes, opened, span

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_MONOSPACED = ("courier", "consolas", "menlo", "monaco", "lucida console", "mono", "fixedsys")
_CODE_STYLES = ("code", "source", "preformatted", "macro", "terminal", "command")
_GOES_ON = ("list continue", "list paragraph")


def page(data: bytes, most: int) -> Iterator[str]:
    """The lines of the page. Raises ReaderMissing, Encrypted, Corrupt, TooMuchText."""
    # What is odd about it is told where it is kept as a document; here its words are all.
    yield from _Writer(opened(data, Reading("", "docx", most))).lines()


class _Writer:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._numbering = _Numbering(document)
        self._lists: list[tuple[int, str]] = []
        self._in_code = False
        styles = (_style(one) for one in document.paragraphs)
        self._has_title = any(name == "title" for name in styles)

    def lines(self) -> Iterator[str]:
        for one in self._document.iter_inner_content():
            yield from self._block(one)
        yield from self._loose(around(self._document))
        for note in notes(self._document):
            yield f"{self._ended()}<footer>{escape(note)}</footer>"
        yield self._ended()

    def _block(self, one: Paragraph | Table) -> Iterator[str]:
        from docx.table import Table

        if isinstance(one, Table):
            yield from self._table(one)
        else:
            yield from self._paragraph(one)

    def _loose(self, content: Iterator[Paragraph | Table]) -> Iterator[str]:
        """What stands above and below the text of pages."""
        for one in content:
            for line in self._block(one):
                yield f"{self._ended()}<footer>{line}{self._ended()}</footer>"

    def _paragraph(self, paragraph: Paragraph) -> Iterator[str]:
        style = _style(paragraph)
        said = _runs(paragraph)
        if said.strip():
            yield self._begun(paragraph, style) + self._shown(paragraph, style, said)
        for inner in boxed(paragraph):
            yield from self._block(inner)

    def _shown(self, paragraph: Paragraph, style: str, said: str) -> str:
        if self._in_code:
            return said
        level = self._level(style)
        if level:
            names = "".join(f'<a id="{escape(name)}"></a>' for name in _bookmarks(paragraph))
            return f"<h{level}>{names}{escape(paragraph.text)}</h{level}>"
        return f"<nav>{said}</nav>" if style.startswith("toc ") else f"<p>{said}</p>"

    def _level(self, style: str) -> int:
        if style == "title":
            return 1
        rest = style.removeprefix("heading ")
        if rest == style or not rest.isdecimal():
            return 0
        return min(int(rest) + self._has_title, 6)

    def _begun(self, paragraph: Paragraph, style: str) -> str:
        """What is closed and opened before a paragraph."""
        is_code = not self._level(style) and _is_code(paragraph, style)
        if is_code and self._in_code:
            return ""
        before = "</pre>" if self._in_code else ""
        self._in_code = is_code
        counted = None if self._level(style) else self._numbering.of(paragraph, style)
        if counted is not None:
            return before + self._item(*counted)
        indented = paragraph.paragraph_format.left_indent
        if not (self._lists and (style in _GOES_ON or is_code or (indented or 0) > 0)):
            before += self._close_lists(0)
        return before + ("<pre>" if is_code else "")

    def _item(self, depth: int, number: int | None) -> str:
        tag = "ul" if number is None else "ol"
        before = self._close_lists(depth + 1)
        if self._lists and self._lists[-1] == (depth, tag):
            before += "</li>"
        else:
            if self._lists and self._lists[-1][0] == depth:
                before += self._close_lists(depth)
            self._lists.append((depth, tag))
            before += f"<{tag}>"
        return before + ("<li>" if number is None else f'<li value="{number}">')

    def _close_lists(self, depth: int) -> str:
        """Close the lists of ``depth`` and deeper."""
        closed = ""
        while self._lists and self._lists[-1][0] >= depth:
            closed += f"</li></{self._lists.pop()[1]}>"
        return closed

    def _ended(self) -> str:
        before = "</pre>" if self._in_code else ""
        self._in_code = False
        return before + self._close_lists(0)

    def _table(self, table: Table) -> Iterator[str]:
        before, opening = self._ended(), "<table>"
        for row in table._tbl.tr_lst:
            opening += "<tr>"
            for cell in row.tc_lst:
                columns = span(cell)
                opening += "<td>"
                if cell.vMerge != "continue":
                    for line in self._cell(cell, table):
                        yield before + opening + line
                        before = opening = ""
                opening += self._ended() + "</td>" + "<td></td>" * (columns - 1)
            opening += "</tr>"
        yield before + opening + "</table>"

    def _cell(self, cell: Any, table: Table) -> Iterator[str]:
        from docx.table import _Cell

        for one in _Cell(cell, table).iter_inner_content():
            yield from self._block(one)


class _Numbering:
    """How paragraphs of lists are counted."""

    def __init__(self, document: Document) -> None:
        from docx.oxml.ns import qn

        self._w = qn
        self._levels: dict[tuple[str, int], tuple[str, int]] = {}
        self._lists: dict[str, str] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for relation in document.part.rels.values():
            if relation.reltype.endswith("/numbering") and not relation.is_external:
                self._read(relation.target_part._element)

    def _read(self, numbering: Any) -> None:
        w = self._w
        for abstract in numbering.findall(w("w:abstractNum")):
            name = abstract.get(w("w:abstractNumId"), "")
            for level in abstract.findall(w("w:lvl")):
                kind = _value(level.find(w("w:numFmt"))) or "bullet"
                start = _value(level.find(w("w:start"))) or "1"
                depth = level.get(w("w:ilvl"), "0")
                self._levels[name, _int(depth)] = (kind, _int(start))
        for num in numbering.findall(w("w:num")):
            self._lists[num.get(w("w:numId"), "")] = _value(num.find(w("w:abstractNumId"))) or ""

    def of(self, paragraph: Paragraph, style: str) -> tuple[int, int | None] | None:
        """How deep the item is that ``paragraph`` begins, and its number, None for a bullet; None
        for what begins no item."""
        found = self._properties(paragraph)
        if found is None:
            if style.startswith("list bullet"):
                return 0, None
            return (0, self._next(style, 0, 1)) if style.startswith("list number") else None
        name, depth = found
        abstract = self._lists.get(name, "")
        kind, start = self._levels.get((abstract, depth), ("bullet", 1))
        if kind in ("bullet", "none"):
            return depth, None
        return depth, self._next(name, depth, start)

    def _next(self, name: str, depth: int, start: int) -> int:
        counts = self._counts[name]
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        counts[depth] = counts.get(depth, start - 1) + 1
        return counts[depth]

    def _properties(self, paragraph: Paragraph) -> tuple[str, int] | None:
        """The list of a paragraph, its own or that of its style, and how deep it stands in it."""
        w = self._w
        name, depth = "", None
        style = paragraph.style
        elements = [paragraph._p.pPr]
        for _ in range(10):  # styles that are based on others
            if style is None:
                break
            elements.append(style.element.find(w("w:pPr")))
            style = style.base_style
        for properties in elements:
            numbered = None if properties is None else properties.find(w("w:numPr"))
            if numbered is None:
                continue
            depth = _value(numbered.find(w("w:ilvl"))) if depth is None else depth
            name = name or _value(numbered.find(w("w:numId"))) or ""
        return (name, min(_int(depth or "0"), 8)) if name not in ("", "0") else None


def _value(element: Any) -> str | None:
    from docx.oxml.ns import qn

    found: str | None = None if element is None else element.get(qn("w:val"))
    return found


def _int(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _style(paragraph: Paragraph) -> str:
    return (paragraph.style.name or "").lower() if paragraph.style is not None else ""


def _is_code(paragraph: Paragraph, style: str) -> bool:
    if any(name in style for name in _CODE_STYLES):
        return True
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(_is_monospaced(run) for run in runs)


def _is_monospaced(run: Any) -> bool:
    name = (run.font.name or "").lower()
    return any(one in name for one in _MONOSPACED)


def _runs(paragraph: Paragraph) -> str:
    """What a paragraph says, as HTML."""
    from docx.text.hyperlink import Hyperlink

    is_code = _is_code(paragraph, _style(paragraph))
    said = []
    for one in paragraph.iter_inner_content():
        if isinstance(one, Hyperlink):
            to = one.url or (f"#{one.fragment}" if one.fragment else "")
            inner = "".join(_run(run, is_code) for run in one.runs)
            said.append(f'<a href="{escape(to)}">{inner}</a>' if to and not is_code else inner)
        else:
            said.append(_run(one, is_code))
    return "".join(said)


def _run(run: Any, is_code: bool) -> str:
    shown = escape(run.text, quote=False).replace("\n", "<br/>")
    if is_code or not shown.strip():
        return shown
    if _is_monospaced(run):
        return f"<code>{shown}</code>"
    return f"<b>{shown}</b>" if run.bold else shown


def _bookmarks(paragraph: Paragraph) -> list[str]:
    from docx.oxml.ns import qn

    return [one.get(qn("w:name"), "") for one in paragraph._p.iter(qn("w:bookmarkStart"))]
