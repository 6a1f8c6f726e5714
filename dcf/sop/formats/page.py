"""HTML as blocks, each with its lines, by the parser of the standard library.

What wikis add is understood where it says what a text is: call-outs and code of Confluence (pages
as they are stored, and as they are exported), of MediaWiki, Sphinx, Asciidoctor and GitHub.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from html import escape
from html.parser import HTMLParser

from dcf.sop.formats.marked_text import MarkedText
from dcf.sop.formats.page_look import (
    Style,
    code_language,
    depth,
    is_aside,
    is_card,
    is_counted,
    is_inline_code,
    is_split,
    is_ticked,
)
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.command import read_commands
from dcf.sop.runbook.headings import slug

_DEEPEST = 24
"""Blocks inside blocks; what is deeper stands beside one another."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNSEEN = frozenset(
    {"script", "style", "noscript", "template", "svg", "iframe", "object"}
    | {"ac:parameter", "ac:task-id", "ac:task-status", "ac:placeholder"}
)
_UNSEEN_CLASSES = frozenset(
    {"mw-editsection", "headerlink", "toc-anchor", "heading-anchor", "conum", "linenos"}
)
_FLOW = frozenset(
    {"p", "div", "section", "article", "main", "header", "figure", "figcaption", "form", "hr"}
    | {
        "body",
        "html",
        "head",
        "address",
        "details",
        "summary",
        "fieldset",
        "caption",
        "legend",
        "center",
    }
    | {"ac:rich-text-body", "ac:layout", "ac:layout-section", "ac:layout-cell", "ac:task-body"}
    | {"thead", "tbody", "tfoot", "colgroup", "option"}
)
_ASIDE = frozenset({"nav", "footer", "blockquote"})
_LISTS = frozenset({"ul", "ol", "dl", "menu", "ac:task-list"})
_ITEMS = frozenset({"li", "dt", "ac:task"})
_MARKS = {
    **dict.fromkeys(("strong", "b"), "**"),
    **dict.fromkeys(("em", "i"), "*"),
    **dict.fromkeys(("code", "kbd", "tt", "samp"), "`"),
}
_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "col", "area", "base", "embed", "source", "wbr"}
)
_KIND = (
    r"warning|caution|danger|important|attention|critical|alert|error|note|tip|info|information"
    r"|hint|example|success|seealso"
)
_CALLOUT = re.compile(
    r"\b(?:admonition(?:block)?|alert|callout|confluence-information-macro|message|hint|notice"
    r"|custom-block|notification)\b",
    re.IGNORECASE,
)
_KINDS = re.compile(rf"\b(?:{_KIND})\b(?!-macro)", re.IGNORECASE)
_VAGUE = ("alert", "hint")
"""What a call-out may be called whatever it is."""
_CALLOUT_TAGS = frozenset({"div", "aside", "p", "section", "figure"})
_BLOCKS = r"(?:div|p|pre|ul|ol|dl|table|section|article|h[1-6]|ac:)"
_NO_BLOCK_INSIDE = re.compile(
    rf"<[^<>]*>[^<]*(?:<(?!/?{_BLOCKS}\b)[^<]*)*</{_BLOCKS}\b", re.IGNORECASE
)
_HEADED = re.compile(
    r"<[^<>]*>\s*(?:<(?:div|span|header)\b[^<>]*>\s*){0,3}<h[1-6]\b", re.IGNORECASE
)
_CODE_ALONE = re.compile(r"`(?P<code>[^`]+)`")
_ALARM = re.compile(r"[⚠🚨❗⛔🛑‼\ufe0f]+")
_CARD_NUMBER = re.compile(r"\W*(?:step\s*)?(?P<number>\d{1,3}|[a-z])\W*", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_LANGUAGE = re.compile(
    r"(?:language-|lang-|highlight-(?!source\b|lang-)|brush:\s*)(?P<name>[\w+#-]+)"
)
_LINK_TO_HERE = re.compile(r"\]\(#([^)\s]+)\)")


class Page:
    """The blocks of an HTML text, and of each line what is seen of it."""

    def __init__(self, text: str) -> None:
        text = _escaped_data(text)
        parser = _Parser(text)
        parser.feed(text)
        parser.close()
        parser.end()
        self.blocks = parser.root.children
        self.title = parser.title
        self.seen: Mapping[int, str] = {
            line: " ".join(" ".join(said).split()) for line, said in parser.seen.items()
        }
        for block in self.blocks:
            _link(block, parser.anchors)
            _measure(block)


def _is_unseen(tag: str, attributes: Mapping[str, str], classes: str) -> bool:
    if tag == "ac:parameter" and attributes.get("ac:name") == "title":
        return False
    named = set(classes.split())
    return tag in _UNSEEN or bool(_UNSEEN_CLASSES & named) or (tag == "td" and "icon" in named)


def _escaped_data(text: str) -> str:
    """``text`` with its sections of character data as text: not all versions of the parser take
    them for that."""
    first, *others = text.split("<![CDATA[")
    parts = [first]
    for other in others:
        data, closed, rest = other.partition("]]>")
        parts.append(escape(data, quote=False) + rest if closed else escape(other, quote=False))
    return "".join(parts)


def _link(block: Block, anchors: Mapping[str, str]) -> None:
    """Let links lead to the words of headings, as they do in Markdown."""
    if block.kind != "code":
        block.lines = [
            (line, _LINK_TO_HERE.sub(lambda to: f"](#{anchors.get(to[1], to[1])})", text))
            for line, text in block.lines
        ]
    for child in block.children:
        _link(child, anchors)


def _measure(block: Block) -> None:
    """Let a block reach as far as what stands in it."""
    for child in block.children:
        _measure(child)
    lines = [line for line, _ in block.lines]
    lines += [at for child in block.children for at in (child.line, child.last)]
    if lines:
        # The cells of a row may stand on several lines.
        last = block.last if block.kind == "table" else 0
        block.line, block.last = min(lines), max(last, *lines)


class _Open:
    """A tag that is not closed yet, with the block that what stands in it goes to."""

    __slots__ = ("block", "is_card", "is_cell", "tag")

    def __init__(self, tag: str, block: Block, is_card: bool = False) -> None:
        self.tag = tag
        self.block = block
        self.is_cell = False
        self.is_card = is_card


class _Parser(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self._source = text
        self._begins = [0, *(found.end() for found in re.finditer("\n", text))]
        self._style = Style()
        self._cards: list[Block] = []
        self._ticked: list[Block] = []
        self._terms: list[Block] = []
        self._spans: list[str] = []
        self._shows_code = False
        self._in_paragraph = False
        self._shown: list[Block] = []
        self.root = Block("quote", 1, 1)
        self.title = ""
        self.seen: dict[int, list[str]] = {}
        self.anchors: dict[str, str] = {}
        self._open = [_Open("", self.root)]
        self._text = MarkedText()
        self._links: list[str] = []
        self._ids: list[str] = []
        self._heading = 0
        self._hidden: list[str] = []
        self._in_title = False
        self._is_language = False
        self._code: list[tuple[int, str]] | None = None
        self._code_tag = ""
        self._languages: list[tuple[str, str]] = []

    # What the parser finds

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        classes = attributes.get("class", "")
        if tag == "title" and not self.title:
            self._in_title = True
        if self._hidden:
            self._hidden += [tag] * (tag == self._hidden[0])
            return
        if _is_unseen(tag, attributes, classes):
            self._is_language = attributes.get("ac:name") == "language"
            self._hidden += [tag] * (tag not in _VOID)
            return
        if self._code is not None:
            if tag in ("code", "pre"):
                self._find_language(attributes)
            if tag == "br":
                self._code.append((self.getpos()[0], ""))
            return
        if attributes.get("id") or (tag == "a" and attributes.get("name")):
            self._ids.append(attributes.get("id") or attributes["name"])
        self._start(tag, attributes, classes)

    def _start(self, tag: str, attributes: dict[str, str], classes: str) -> None:
        line = self.getpos()[0]
        if tag in _MARKS:
            # In code nothing else is marked.
            if not (self._text.is_marked("`") or self._text.is_marked(_MARKS[tag])):
                self._text.open(_MARKS[tag])
        elif tag in ("span", "font"):
            self._begin_span(attributes)
        elif tag == "a":
            self._begin_link(attributes.get("href", ""))
        elif tag == "br":
            self._text.break_row(line)
        elif tag == "img":
            self._image(attributes)
        elif tag == "input":
            if attributes.get("type", "").lower() == "checkbox":
                self._tick()
        elif tag in ("ri:page", "ri:user", "ri:attachment"):
            said = attributes.get("ri:content-title") or attributes.get("ri:filename") or ""
            self._say(said, line)
        elif tag == "ac:structured-macro":
            self._macro(attributes.get("ac:name", ""))
        elif tag in ("pre", "ac:plain-text-body"):
            self._begin_code(tag, attributes)
        elif tag in _HEADINGS or self._is_title(tag, classes):
            self._flush()
            self._heading = _HEADINGS.get(tag, 1)
        elif tag in _LISTS:
            self._begin_list(tag, attributes)
        elif tag in _ITEMS:
            self._begin_item(tag, attributes)
        elif tag == "dd":
            self._flush()
        elif tag == "table":
            self._push(tag, Block("table", line, line))
        elif tag in ("tr", "td", "th"):
            self._begin_in_table(tag)
        elif tag in _ASIDE or is_aside(attributes) or "colist" in classes.split():
            self._push(tag, Block("quote", line, line))
        elif tag in _FLOW or tag == "aside":
            self._begin_flow(tag, attributes, classes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._hidden:
            if tag == self._hidden[-1]:
                self._hidden.pop()
        elif self._code is not None:
            if tag == self._code_tag:
                self._end_code()
        elif tag in _MARKS:
            self._text.close(_MARKS[tag])
        elif tag in ("span", "font"):
            if self._spans and (mark := self._spans.pop()):
                self._text.close(mark)
        elif tag == "a":
            if self._links:
                self._text.close(self._links.pop())
        elif tag in _HEADINGS or (tag == "p" and self._heading):
            self._flush()
            self._heading = 0
        elif tag in ("dt", "dd"):
            self._flush()
        elif tag in _FLOW:
            self._flush()
            self._pop(tag)
        else:
            self._pop(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_data(self, data: str) -> None:
        if self._hidden:
            if self._hidden[0] == "style":
                self._style.read(data)
            elif self._is_language and self._languages:
                self._languages[-1] = (self._languages[-1][0], data.strip())
        elif self._in_title:
            self.title += data
        else:
            self._say(data, self.getpos()[0])

    def end(self) -> None:
        """Close what is open still."""
        if self._code is not None:
            self._end_code()
        self._flush()
        self.title = " ".join(self.title.split())
        while len(self._open) > 1:
            self._close()

    def _is_title(self, tag: str, classes: str) -> bool:
        """Whether a paragraph is the title of the page, as programs for texts write it."""
        return tag == "p" and "title" in classes.split() and not self.root.children

    # Text

    def _say(self, data: str, line: int) -> None:
        for at, row in enumerate(data.split("\n")):
            if row.strip():
                self.seen.setdefault(line + at, []).append(row)
        if self._code is not None:
            rows = data.split("\n")
            first_line, first = self._code.pop() if self._code else (line, "")
            self._code.append((first_line, first + rows[0]))
            self._code += [(line + at, row) for at, row in enumerate(rows[1:], 1)]
        else:
            self._text.say(data, line)

    def _image(self, attributes: dict[str, str]) -> None:
        said = " ".join(attributes.get("alt", "").split())
        if said:
            self._say(f"![{said}]({attributes.get('src', '')[:200]})", self.getpos()[0])

    def _tick(self) -> None:
        item = next((one.block for one in reversed(self._open) if one.block.kind == "item"), None)
        if item is not None:
            item.is_checkbox = True

    def _begin_span(self, attributes: dict[str, str]) -> None:
        """What a page shows as code or bold is marked so."""
        if is_ticked(attributes):
            self._tick()
        looks = self._style.looks(attributes)
        mark = "**" if "bold" in looks and not self._heading else ""
        if "code" in looks or is_inline_code(attributes.get("class", "")):
            mark = "`"
        if mark and (self._text.is_marked("`") or self._text.is_marked(mark)):
            mark = ""
        if mark:
            self._text.open(mark)
        if mark == "`" and is_counted(attributes.get("class", "")):
            self._shows_code = True
        self._spans.append(mark)

    def _begin_link(self, to: str) -> None:
        mark = "[" if to else ""
        if to:
            self._text.open("[", f"]({' '.join(to.split())})")
        self._links.append(mark)

    def _flush(self) -> None:
        rows = self._text.taken()
        if not rows:
            return
        line, last = rows[0][0], rows[-1][0]
        if self._heading:
            title = " ".join(text for _, text in rows)
            block = Block("heading", line, last, rows, level=self._heading)
            for name in self._ids:
                self.anchors.setdefault(name, slug(title))
        elif self._shows_code and self._shown_code(rows):
            self._ids.clear()
            return
        else:
            block = Block("text", line, last, rows)
        self._ids.clear()
        self._add(block)

    def _shown_code(self, rows: list[tuple[int, str]]) -> bool:
        """Take a paragraph of commands that is shown as code for a block of code, and with it what
        stands below it."""
        self._shows_code = False
        above = self._open[-1].block
        said = [
            (line, found["code"]) for line, row in rows if (found := _CODE_ALONE.fullmatch(row))
        ]
        if above.kind not in ("quote", "callout") or len(said) < len(rows):
            return False
        before = above.children[-1] if above.children else None
        if before is not None and any(before is one for one in self._shown):
            above.children.pop()
            said = [*before.lines[1:-1], *said]
        elif not (self._in_paragraph and read_commands(said[0][1], "", said[0][0])):
            return False
        self._shown.append(code_block(said, "", said[0][0], said[-1][0]))
        self._add(self._shown[-1])
        return True

    # Blocks

    def _add(self, block: Block) -> None:
        """Put ``block`` into what is open; in a list, into an item."""
        above = self._open[-1].block
        if above.kind == "list" and block.kind != "item":
            above.children.append(Block("item", block.line, block.last))
            above = above.children[-1]
        above.children.append(block)

    def _push(self, tag: str, block: Block) -> None:
        self._flush()
        if len(self._open) > _DEEPEST:
            self._open.append(_Open(tag, self._open[-1].block))
            return
        self._add(block)
        self._open.append(_Open(tag, block))

    def _pop(self, tag: str) -> None:
        """Close the innermost ``tag`` and all in it; nothing where none is open in this cell."""
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].tag == tag:
                self._flush()
                while len(self._open) > at:
                    self._close()
                return
            if self._open[at].is_cell and tag not in ("td", "th", "tr", "table"):
                return

    def _close(self) -> None:
        closed = self._open.pop()
        self._languages = [one for one in self._languages if one[0] != closed.tag]
        if closed.tag == "table" and closed.block.kind == "table":
            above = self._open[-1].block
            if above.children[-1:] == [closed.block]:
                above.children[-1:] = _settled(closed.block)
            else:
                above.children[-1].children = _settled(closed.block)
        elif closed.is_card or (closed.tag == "li" and closed.block.number):
            _count(closed.block)
        elif closed.block.kind == "callout":
            _label(closed.block)
        elif closed.block.kind == "list":
            closed.block.info = ""
            if closed.tag == "dl" and not any(closed.block is one for one in self._terms):
                # Wikis indent a paragraph so.
                inside = [one for item in closed.block.children for one in item.children]
                closed.block.kind, closed.block.children = "quote", inside

    def _begin_flow(self, tag: str, attributes: dict[str, str], classes: str) -> None:
        self._flush()
        self._in_paragraph = tag == "p"
        language = _LANGUAGE.search(classes)
        kind = _callout_of(tag, classes)
        if tag == "div" and is_ticked(attributes):
            self._tick()
        if tag in ("div", "p") and self._is_code(attributes):
            if named := code_language(classes):
                self._languages.append((tag, named))
            self._begin_code(tag, attributes)
            return
        if tag in ("div", "section", "article") and is_card(classes) and not self._is(_HEADED):
            self._begin_card(tag)
        elif kind:
            self._push(tag, Block("callout", 1, 1, info=kind))
        elif tag != "p" and tag not in _VOID:
            self._open.append(_Open(tag, self._open[-1].block))
        if language:
            self._languages.append((tag, language["name"]))

    def _is(self, pattern: re.Pattern[str]) -> bool:
        """Whether ``pattern`` is found at the tag that is read."""
        line, column = self.getpos()
        return pattern.match(self._source, self._begins[line - 1] + column) is not None

    def _is_code(self, attributes: dict[str, str]) -> bool:
        """Whether an element is a block of code, with no other block in it."""
        told = code_language(attributes.get("class", "")) is not None
        return (told or "pre" in self._style.looks(attributes)) and self._is(_NO_BLOCK_INSIDE)

    def _begin_card(self, tag: str) -> None:
        """An item of the list that cards beside one another are."""
        line = self.getpos()[0]
        beside = self._open[-1].block.children[-1:]
        if not beside or not any(beside[0] is one for one in self._cards):
            beside = [Block("list", line, line)]
            self._cards += beside
            self._add(beside[0])
        cards = beside[0].children
        cards.append(Block("item", line, line, number=str(len(cards) + 1)))
        self._open.append(_Open(tag, cards[-1], is_card=True))

    def _item_above(self, level: int) -> Block | None:
        """The item that a list belongs to which stands behind it, so many lists deep."""
        found: Block | None = None
        block = self._open[-1].block
        for _ in range(level):
            last = block.children[-1] if block.children else None
            if last is None or last.kind != "list" or not last.children:
                break
            block = found = last.children[-1]
        return found

    def _begin_list(self, tag: str, attributes: dict[str, str]) -> None:
        listed = Block("list", self.getpos()[0], self.getpos()[0])
        self._flush()
        above = self._item_above(depth(attributes.get("class", "")) or 0)
        beside = self._open[-1].block.children[-1:]
        if above is None and beside and is_split(attributes, beside[0]):
            listed = beside[0]
            self._open.append(_Open(tag, listed))
        elif above is None:
            self._push(tag, listed)
        else:
            above.children.append(listed)
            self._open.append(_Open(tag, listed))
        if is_ticked(attributes):
            self._ticked.append(listed)
        if tag == "ol":
            start = attributes.get("start", "1")
            kind = attributes.get("type", "1")
            # Of a list `info` says how its next item is counted.
            self._open[-1].block.info = f"{kind[:1]}{int(start) if start.isdecimal() else 1}"

    def _begin_item(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.getpos()[0]
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].tag in _LISTS:
                self._flush()
                while len(self._open) > at + 1:
                    self._close()
                break
            if self._open[at].is_cell:
                self._push("ul", Block("list", line, line))
                break
        else:
            self._push("ul", Block("list", line, line))
        above = self._open[-1].block
        self._terms += [above] * (tag == "dt")
        is_box = tag == "ac:task" or is_ticked(attributes)
        is_box = is_box or any(above is one for one in self._ticked)
        item = Block("item", line, line, is_checkbox=is_box)
        if above.info and above.kind == "list":
            value = attributes.get("value", "")
            count = int(value) if value.isdecimal() else int(above.info[1:])
            item.number = _counted(above.info[0], count)
            above.info = f"{above.info[0]}{count + 1}"
        self._push(tag, item)

    def _begin_in_table(self, tag: str) -> None:
        self._flush()
        for at in range(len(self._open) - 1, 0, -1):
            if self._open[at].tag == "table":
                break
        else:
            return  # a row outside of any table
        while len(self._open) > at + 1 + (tag != "tr" and self._open[at + 1 :][:1] != []):
            self._close()
        line = self.getpos()[0]
        if tag != "tr" and self._open[-1].tag != "tr":
            self._push("tr", Block("list", line, line))
        self._push(tag, Block("list" if tag == "tr" else "item", line, line))
        self._open[-1].is_cell = tag != "tr"

    # Code

    def _macro(self, name: str) -> None:
        kind = re.fullmatch(_KIND, name, re.IGNORECASE)
        line = self.getpos()[0]
        if kind:
            self._push("ac:structured-macro", Block("callout", line, line, info=name.lower()))
        else:
            self._flush()
            self._open.append(_Open("ac:structured-macro", self._open[-1].block))
            self._languages.append(("ac:structured-macro", ""))

    def _begin_code(self, tag: str, attributes: dict[str, str]) -> None:
        self._flush()
        self._code, self._code_tag = [], tag
        self._find_language(attributes)

    def _find_language(self, attributes: dict[str, str]) -> None:
        told = [attributes.get("class", ""), attributes.get("data-syntaxhighlighter-params", "")]
        found = _LANGUAGE.search(" ".join(told)) or re.fullmatch(
            r"(?P<name>[\w+#-]+)", attributes.get("data-lang", "")
        )
        if found and found["name"] != "default":
            self._languages.append((self._code_tag, found["name"]))

    def _end_code(self) -> None:
        rows, self._code = self._code or [], None
        language = self._languages[-1][1] if self._languages else ""
        self._languages = [one for one in self._languages if one[0] != self._code_tag]
        while rows and not rows[0][1].strip():
            rows.pop(0)
        while rows and not rows[-1][1].strip():
            rows.pop()
        if rows:
            self._add(code_block(rows, language, rows[0][0], rows[-1][0]))


def code_block(rows: list[tuple[int, str]], language: str, line: int, last: int) -> Block:
    """A block of code, as Markdown fences it."""
    fence = "```"
    while any(fence in text for _, text in rows):
        fence += "`"
    lines = [(line, fence + language), *rows, (last, fence)]
    return Block("code", line, last, lines, info=language)


def _count(card: Block) -> None:
    """Let an item have the number that it shows, and begin with its words: a time or a sign before
    them stands in their line."""
    first, *others = card.children or [Block("text", 1, 1)]
    shown = _CARD_NUMBER.fullmatch(unicodedata.normalize("NFKC", first.text.strip("*`")))
    if others and shown:
        card.number = shown["number"].lower().lstrip("0") or "0"
        card.children = others
    elif others and others[0].kind == "text" and not _LETTER.search(first.text):
        shown_first = [(line, text.strip("*`")) for line, text in first.lines]
        others[0].lines = [*shown_first, *others[0].lines]
        others[0].line = first.line
        card.children = others


def _callout_of(tag: str, classes: str) -> str:
    """What kind of call-out the classes of an element say that it is; empty for none."""
    if tag not in _CALLOUT_TAGS:
        return ""
    kinds: list[str] = [kind.lower() for kind in _KINDS.findall(classes)]
    if kinds and (_CALLOUT.search(classes) or kinds == [classes.strip().lower()]):
        return next((kind for kind in kinds if kind not in _VAGUE), kinds[0])
    return "note" if tag == "aside" or "callout" in classes.split() else ""


def _counted(kind: str, count: int) -> str:
    if kind in "aA" and 1 <= count <= 26:
        return chr(ord("a") + count - 1)
    return str(count)


def _label(callout: Block) -> None:
    """Where a call-out says what it is in a paragraph of its own, as the label of what follows; a
    sign there makes it a warning."""
    first, *others = callout.children or [Block("text", 1, 1)]
    if others and others[0].kind == "text" and _ALARM.fullmatch(first.text):
        callout.info = "warning"
        others[0].lines = [*first.lines, *others[0].lines]
        callout.children = others
    named = re.fullmatch(_KIND, first.text.strip("*"), re.IGNORECASE)
    if others and named and others[0].kind == "text":
        others[0].lines = [(first.line, f"{first.text}:"), *others[0].lines]
        callout.children = others


def _settled(table: Block) -> list[Block]:
    """What a table is: its rows as lines; where it has a single column it only lays things out."""
    rows = [row.children for row in table.children if row.kind == "list"]
    others = [one for one in table.children if one.kind != "list"]
    table.children = []
    if all(len(cells) < 2 for cells in rows):
        inside = [one for cells in rows for cell in cells for one in cell.children]
        return [*others, *inside]
    for cells in rows:
        texts = [_cell_text(cell).replace("|", "\\|") for cell in cells]
        lines = [line for cell in cells for line in _lines_in(cell)]
        if lines:
            table.lines.append((min(lines), f"| {' | '.join(texts)} |"))
            table.last = max(table.last, *lines)
    return [*others, table] if table.lines else others


def _cell_text(block: Block) -> str:
    if block.kind == "code":
        return " ".join(f"`{text.strip()}`" for _, text in block.lines[1:-1] if text.strip())
    said = [text for _, text in block.lines]
    said += [_cell_text(child) for child in block.children]
    return " ".join(one for one in said if one)


def _lines_in(block: Block) -> list[int]:
    found = [line for line, _ in block.lines]
    for child in block.children:
        found += _lines_in(child)
    return found
