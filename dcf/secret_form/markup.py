"""HTML and XML as a reader sees them: without tags, tables as Markdown has them; and secrets in
their attributes.

Tags are found as the HTML Standard finds them (13.2.5), but that one without an end is text: then
what is written is the source of a program. Nothing is read twice.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dcf.secret_form.beside import name_before
from dcf.secret_form.found import Found
from dcf.secret_form.given import SIGN, is_given
from dcf.secret_form.naming import kind_of, small
from dcf.secret_form.plain import is_plain
from dcf.secret_form.said import is_said
from dcf.secret_form.tables import called, is_made
from dcf.secret_form.view import Bit, View

_SHOWS = ("</", "/>", "<input", "<meta", "<td", "<th", "<dt", "<br", "<b>", "<!--")
_TOKEN = re.compile(
    r"<(?P<ends>/?)(?P<name>[a-zA-Z][\w:.-]{0,60})(?=[\s/>])|<!--|-->|<!\[CDATA\[|\]\]>"
)
_INSIDE = re.compile(r"(?>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)")
_ATTRIBUTE = re.compile(
    r"(?P<name>[^\s\"'<>/=]{1,60}+)\s{0,20}+=\s{0,20}+"
    r"(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s\"'<>=`]+))"
)
_BLANKS = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]\w{1,30});")
_BREAKS = frozenset(
    {"p", "div", "li", "ul", "ol", "dl", "dt", "dd", "section", "article", "main", "header"}
    | {"footer", "nav", "aside", "blockquote", "figure", "figcaption", "form", "hr", "body", "br"}
    | {"address", "details", "summary", "fieldset", "pre", "title", "option", "label"}
    | {f"h{level}" for level in range(1, 7)}
)
_BEFORE = {"li": "- ", **{f"h{level}": "# " for level in range(1, 7)}}
_CELLS = frozenset({"td", "th"})
_ENDS_CELL = _CELLS | {"tr", "thead", "tbody", "tfoot"}
_WIDEST = 20
"""Columns and rows that a cell takes, at most; and columns in which one goes on below."""
_NAMES = ("name", "id", "key", "property", "itemprop", "autocomplete", "type", "data-name")
_TITLES = frozenset({"name", "key"})
_VALUES = ("value", "content", "data-value")
_BUTTONS = frozenset({"submit", "button", "checkbox", "radio", "image", "reset"})
_READ = frozenset({"a", "button", "select", "iframe", "form", "map", "slot", "object"})
"""Tags of HTML that have a name and what people read."""
_INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "center", "cite", "code", "data", "del"}
    | {"dfn", "em", "font", "i", "img", "input", "ins", "kbd", "mark", "meta", "q", "s", "samp"}
    | {"small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"}
)
_UNSEEN = frozenset({"script", "style"})
_KNOWN = _BREAKS | _ENDS_CELL | _INLINE | _UNSEEN | {"table", "caption"}
_CLOSER = re.compile(r"</([a-zA-Z][\w:.-]{0,60})[\s>]")
_SHORT_COMMENT = re.compile(r"<!--[^<>:=|]{0,200}-->")
_DEEPEST = 6
"""Tables inside of each other of which rows are told; the words of each are told by those around
it, too."""
_REPEATED = 100
"""Signs of a cell that stands in several rows or columns and is told in each of them."""
_CONTENT = re.compile(
    r"\s{0,99}(?:<value>\s{0,99})?(?:<!\[CDATA\[)?"
    r"(?P<secret>[^<>\s]{3,200}?)(?:\]\]>)?\s{0,99}</"
)
_TEMPLATE = re.compile(r"[{<@$#%]")
_BLOCK = (
    r"</?(?:p|div|li|[uod]l|d[td]|span|b|strong|em|label|code|pre|br|h[1-6])(?:\s[^<>]{0,200})?/?>"
)
_NEXT_BLOCK = re.compile(
    rf"(?P<rest>[\w.-]{{0,20}}+):?\s{{0,60}}+(?:{_BLOCK}\s{{0,60}}+){{1,6}}"
    rf"(?P<secret>{SIGN}{{6,200}}+)\s{{0,60}}+<",
    re.IGNORECASE,
)
_BEGINS_BLOCK = re.compile(r">\s{0,60}(?:[\w.-]{1,20}[ _.-]){0,2}[a-z_]{0,12}\Z")
_FAR = 120
"""Signs before the name of a secret among which its block begins."""
_RULED = "|---|---|\n"


def shows_markup(lower: str) -> bool:
    """Whether ``lower``, a text in small letters, may have tags."""
    return "<" in lower and any(part in lower for part in _SHOWS)


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    ends: bool
    start: int
    end: int


def seen(text: str) -> View | None:
    """``text`` as it is seen; None where it has no tag and no comment."""
    page, script = _Page(is_page=text.lstrip()[:1] == "<"), None
    at, has_tags = 0, False
    for tag in _tags(text):
        (script or page).say(text, at, tag.start)
        at, has_tags = tag.end, True
        if tag.name not in _UNSEEN:
            (script or page).tag(text, tag)
            continue
        # What stands before it and behind it belongs together.
        if script is not None:
            page.behind += script.bits()
        script = None if tag.ends else _Page(is_page=False)
    if not has_tags:
        return None
    (script or page).say(text, at, len(text))
    return View([*page.bits(), *page.behind, *(script.bits() if script else ())])


def in_attributes(text: str) -> Iterator[Found]:
    """The values of fields and settings that are called like secrets: ``<input type="password"
    value="…">``, ``<property name="db.password">…</property>``."""
    for tag in _tags(text):
        if tag.ends or not tag.name or tag.end - tag.start < len("<a id=pwd>"):
            continue
        given = {
            hit["name"].lower(): (hit[hit.lastgroup or ""], hit.start(hit.lastgroup or ""))
            for hit in _ATTRIBUTE.finditer(text, tag.start, tag.end)
        }
        yield from _in_tag(text, tag, given)


def in_blocks(text: str, lower: str, names: Iterable[int]) -> Iterator[Found]:
    """The word that is all of a paragraph or an item whose neighbour is the name of a secret;
    ``names`` are the places of such in ``lower``, which is ``text`` in small letters."""
    for place in names:
        hit = _NEXT_BLOCK.match(text, place)
        if not hit or not _BEGINS_BLOCK.search(lower[max(0, place - _FAR) : place]):
            continue
        name = name_before(lower, place, hit.end("rest"))
        if name and is_given(hit["secret"], name):
            yield Found(kind_of(name[0]), *hit.span("secret"))


def _in_tag(text: str, tag: _Tag, given: dict[str, tuple[str, int]]) -> Iterator[Found]:
    if given.get("type", ("", 0))[0].lower() in _BUTTONS:
        return
    names = [small(given[name][0]).strip() for name in _NAMES if name in given]
    if tag.name not in _KNOWN | _READ:
        names.append(tag.name.rpartition(":")[2])
    hit = next((found for name in names if (found := called(name))), None)
    if hit is None:
        return
    for value, start in (given[name] for name in _VALUES if name in given):
        lower = small(value)
        is_one = is_made(value) or (hit["chosen"] and len(value) >= _LEAST)
        if is_one and not _TEMPLATE.match(value) and not is_said(lower, 0, quoted=True):
            yield Found(kind_of(hit[0]), start, start + len(value))
    if not given.keys().isdisjoint(_TITLES) and tag.name not in _READ | _INLINE | _BREAKS | _CELLS:
        content = _CONTENT.match(text, tag.end)
        # A text of a program in another language is a word.
        if content and (
            is_given(content["secret"], hit)
            or (tag.name != "string" and is_plain(content["secret"], hit))
        ):
            yield Found(kind_of(hit[0]), *content.span("secret"))


_LEAST = 3


def _tags(text: str) -> Iterator[_Tag]:
    """Those of ``text``, and what begins and ends comments, which has no name."""
    closed = {name.lower() for name in _CLOSER.findall(text)}
    at = 0
    while hit := _TOKEN.search(text, at):
        if hit["name"] is None:
            short = _SHORT_COMMENT.match(text, hit.start())
            at = short.end() if short else hit.end()
            yield _Tag("!" if short else "", False, hit.start(), at)
            continue
        inside = _INSIDE.match(text, hit.end())
        at = hit.end() if inside is None else inside.end()
        if text[at : at + 1] != ">":
            continue
        at += 1
        name = hit["name"].lower()
        # <str> is what somebody is to put there, and Array<string> a type.
        attributes = text.find("=", hit.end(), at) >= 0 or text[at - 2] == "/"
        if attributes or name in closed or name in _KNOWN:
            yield _Tag(name, bool(hit["ends"]), hit.start(), at)


@dataclass(slots=True)
class _Table:
    rows: list[list[list[Bit]]] = field(default_factory=list)
    caption: list[Bit] = field(default_factory=list)
    behind: list[Bit] = field(default_factory=list)
    """What tables in its cells say."""
    below: dict[int, tuple[int, list[Bit]]] = field(default_factory=dict)
    """For how many rows more a cell takes a column, and what it says."""
    cell: list[Bit] | None = None
    wide: int = 1
    tall: int = 1
    has_titles: bool = False

    def begin_row(self) -> None:
        self.rows.append([])

    def begin_cell(self, wide: int, tall: int, *, titled: bool) -> None:
        if not self.rows:
            self.begin_row()
        self._go_on()
        self.has_titles |= titled and len(self.rows) == 1
        self.cell, self.wide, self.tall = [], wide, tall

    def end_cell(self) -> None:
        if self.cell is None:
            return
        row = self.rows[-1]
        short = sum(len(bit.text) for bit in self.cell) <= _REPEATED
        again = self.cell if short else []
        for at in range(max(1, min(self.wide, _WIDEST - len(row)))):
            if self.tall > 1 and len(row) < _WIDEST:
                self.below[len(row)] = (self.tall - 1, again)
            row.append(again if at else self.cell)
        self.cell = None

    def bits(self) -> Iterator[Bit]:
        """Its rows, the first of which has the names of columns; where nothing says so, they stand
        there once more without names."""
        yield from (Bit("\n"), *self.caption, Bit("\n\n"))
        yield from self._lines(self.rows[:1])
        yield Bit(_RULED)
        yield from self._lines(self.rows[1:])
        if not self.has_titles:
            yield from (Bit("\n"), *self.caption, Bit(f"\n\n| | |\n{_RULED}"))
            yield from self._lines(self.rows)
        yield Bit("\n")
        yield from self.behind

    def _lines(self, rows: Iterable[list[list[Bit]]]) -> Iterator[Bit]:
        for row in rows:
            for cell in row:
                yield Bit("| ")
                yield from cell
                yield Bit(" ")
            yield Bit("|\n")

    def _go_on(self) -> None:
        row = self.rows[-1]
        while len(row) in self.below:
            left, cell = self.below.pop(len(row))
            if left > 1:
                self.below[len(row)] = (left - 1, cell)
            row.append(cell)


class _Page:
    """What is seen so far."""

    def __init__(self, *, is_page: bool) -> None:
        """Where all of a text ``is_page``, its lines end where its blocks do."""
        self._bits: list[Bit] = []
        self.behind: list[Bit] = []
        """What is not seen where it stands."""
        self._tables: list[_Table] = []
        self._kept_blanks = 0
        self._is_page = is_page

    def bits(self) -> list[Bit]:
        while self._tables:
            self._end_table()
        return [*self._bits, Bit("\n\n")]

    def say(self, text: str, start: int, end: int) -> None:
        """What stands between two tags."""
        at = start
        for hit in _ENTITY.finditer(text, start, end):
            self._plain(text, at, hit.start())
            self._add(Bit(html.unescape(hit[0]), *hit.span()))
            at = hit.end()
        self._plain(text, at, end)

    def tag(self, text: str, tag: _Tag) -> None:
        if tag.name == "table" and (tag.ends or len(self._tables) < _DEEPEST):
            if tag.ends and self._tables:
                self._end_table()
            elif not tag.ends:
                self._tables.append(_Table())
        elif tag.name in _ENDS_CELL and (self._tables or not tag.ends):
            if not self._tables:
                self._tables.append(_Table())
            self._in_table(text, tag)
        elif tag.name in _BREAKS or not tag.name:
            self._kept_blanks = max(
                0, self._kept_blanks + (tag.name == "pre") * (-1 if tag.ends else 1)
            )
            is_open = bool(self._tables) and self._tables[-1].cell is not None
            ending = ":" if tag.name == "dt" and tag.ends else ""
            self._add(Bit(ending + (" " if is_open else "\n")))
            if not tag.ends and not is_open:
                self._add(Bit(_BEFORE.get(tag.name, "")))

    def _plain(self, text: str, start: int, end: int) -> None:
        in_cell = bool(self._tables) and self._tables[-1].cell is not None
        if not in_cell and (self._kept_blanks or not self._is_page):
            self._add(Bit(text[start:end], start, end))
            return
        at = start
        for hit in _BLANKS.finditer(text, start, end):
            self._add(Bit(text[at : hit.start()], at, hit.start()))
            self._add(Bit(" "))
            at = hit.end()
        self._add(Bit(text[at:end], at, end))

    def _add(self, bit: Bit) -> None:
        if not bit.text:
            return
        cell = self._tables[-1].cell if self._tables else None
        if cell is None:
            (self._tables[-1].caption if self._tables else self._bits).append(bit)
            return
        if cell or not bit.text.isspace():
            cell.append(Bit(bit.text.replace("|", "/").replace("\n", " "), bit.start, bit.end))

    def _in_table(self, text: str, tag: _Tag) -> None:
        table = self._tables[-1]
        table.end_cell()
        if tag.ends:
            return
        if tag.name in _CELLS:
            attributes = {
                hit["name"].lower(): hit[hit.lastgroup or ""]
                for hit in _ATTRIBUTE.finditer(text, tag.start, tag.end)
            }
            wide, tall = (_number(attributes.get(name)) for name in ("colspan", "rowspan"))
            table.begin_cell(wide, tall, titled=tag.name == "th")
        elif tag.name == "tr":
            table.begin_row()

    def _end_table(self) -> None:
        table = self._tables.pop()
        table.end_cell()
        table.rows = [row for row in table.rows if row]
        bits = list(table.bits()) if table.rows else [*table.caption, *table.behind]
        if not self._tables:
            self._bits += bits
            return
        outer = self._tables[-1]
        outer.behind += bits
        if outer.cell is not None and len(table.rows) < 2:
            for row in table.rows:
                for cell in row:
                    outer.cell += [*cell, Bit(" ")]


def _number(text: str | None) -> int:
    digits = (text or "").strip()
    return max(1, min(int(digits[:4]), _WIDEST)) if digits.isascii() and digits.isdigit() else 1
