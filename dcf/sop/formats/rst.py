"""reStructuredText as blocks, by the document tree of docutils."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from docutils import nodes

from dcf.sop.formats.page import code_block
from dcf.sop.formats.rst_parser import parsed
from dcf.sop.runbook.block import Block
from dcf.sop.runbook.headings import slug

_NEAR = 200
"""How many lines from where docutils says that a text stands it is looked for."""
_MARKS_ONLY = re.compile(
    r"[ \t]*(?:\.\. [\w:+.-]+::|:[\w-]+:(?:[ \t]+\S+)?|\.\. _[^ \n]+:|\.\.|[^\w\s]+)?[ \t]*"
)
_LITERAL_ROLES = frozenset(
    {"code", "command", "program", "file", "option", "envvar", "kbd", "samp", "bash", "makevar"}
    | {"literal", "func", "meth", "class", "mod", "attr", "obj", "exc", "data", "const", "setting"}
)
_BOLD_ROLES = frozenset({"guilabel", "menuselection", "strong"})
_TITLED = re.compile(r"(?P<title>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
_COUNTERS = {"loweralpha": "a", "upperalpha": "A"}
_CALLOUTS = (nodes.Admonition, nodes.topic, nodes.sidebar)
_NOTED = frozenset({"versionadded", "versionchanged", "deprecated", "seealso", "todo", "topic"})


def read_rst(text: str) -> list[Block]:
    """The blocks of ``text``. Raises RecursionError for one that nests too deep."""
    document = parsed(text)
    writer = _Writer(text.split("\n"), _labels(document), _substituted(document))
    return writer.blocks(document)


def without_marks(text: str) -> str:
    """``text`` without the lines that only mark something up."""
    return "\n".join("" if _MARKS_ONLY.fullmatch(row) else row for row in text.split("\n"))


def _labels(document: nodes.document) -> dict[str, str]:
    """The titles of sections, by what references call them."""
    found: dict[str, str] = {}
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        if title is None or section.parent is None:
            continue
        found.setdefault(nodes.fully_normalize_name(title.astext()), title.astext())
    for target in document.findall(nodes.target):
        behind = target.next_node(ascend=True, descend=False)
        while isinstance(behind, (nodes.target, nodes.comment)):
            behind = behind.next_node(ascend=True, descend=False)
        title = behind.next_node(nodes.title) if isinstance(behind, nodes.section) else None
        if title is not None:
            found |= dict.fromkeys(target.get("names", ()), title.astext())
    return found


def _substituted(document: nodes.document) -> dict[str, str]:
    """What stands for ``|name|`` in the text, by the name: words on one line."""
    said: dict[str, str] = {}
    for node in document.findall(nodes.substitution_definition):
        said |= dict.fromkeys(node.get("names", ()), node.astext())
    return {name: text for name, text in said.items() if text.strip() and "\n" not in text}


class _Writer:
    """``rows`` are the lines of the source, ``labels`` the titles that references lead to, and
    ``substituted`` what stands for ``|name|``."""

    def __init__(
        self, rows: Sequence[str], labels: dict[str, str], substituted: dict[str, str]
    ) -> None:
        self._rows = rows
        self._substituted = substituted
        self._labels = labels
        self._level = 0

    def blocks(self, parent: nodes.Node) -> list[Block]:
        return [block for child in parent.children for block in self._blocks(child)]

    def _blocks(self, node: nodes.Node) -> Iterator[Block]:
        match node:
            case nodes.section():
                self._level += 1
                yield from self.blocks(node)
                self._level -= 1
            case nodes.title() | nodes.subtitle():
                yield from self._title(node)
            case nodes.literal_block() | nodes.doctest_block() | nodes.math_block():
                yield from self._code(node)
            case nodes.bullet_list() | nodes.enumerated_list():
                yield from self._list(node)
            case nodes.definition_list() | nodes.option_list() | nodes.field_list():
                yield from self._pairs(node)
            case nodes.table():
                yield from self._table(node)
            case nodes.line_block():
                yield from self._line_block(node)
            case nodes.image():
                yield from self._written(self._said(node), node)
            case nodes.Element() if isinstance(node, _CALLOUTS):
                yield from self._callout(node, node.tagname)
            case nodes.container() if node.get("directive") in _NOTED:
                yield from self._callout(node, node["directive"])
            case nodes.comment() | nodes.system_message() | nodes.target() | nodes.pending():
                pass  # their lines stay as they are written
            case nodes.raw() | nodes.substitution_definition() | nodes.decoration():
                pass
            case nodes.rubric():
                yield from self._written(f"**{self._inside(node)}**", node)
            case nodes.TextElement():
                yield from self._written(self._inside(node), node)
            case nodes.Element():
                yield from self.blocks(node)

    # Text

    def _title(self, node: nodes.Element) -> Iterator[Block]:
        for block in self._written(self._inside(node), node):
            if isinstance(node.parent, nodes.section):
                block.kind, block.level = "heading", self._level
                # The lines above and below it that only underline it.
                block.last = min(block.last + 1, len(self._rows))
            yield block

    def _written(self, said: str, node: nodes.Element) -> Iterator[Block]:
        """A paragraph of ``said``, whose lines are those of the source."""
        line = self._line(node)
        lines = [(line + at, row.strip()) for at, row in enumerate(said.split("\n"))]
        lines = [(min(at, len(self._rows)), row) for at, row in lines if row]
        if lines:
            yield Block("text", lines[0][0], lines[-1][0], lines, indent=self._margin(line))

    def _line(self, node: nodes.Element) -> int:
        """Where a text stands: the nearest line to what docutils says that has its first row."""
        near = min(max(self._near(node), 1), len(self._rows))
        source = node.rawsource or node.astext()
        first = source.split("\n", 1)[0].strip()
        for away in range(_NEAR if first else 0):
            for line in (near - away, near + away):
                if 1 <= line <= len(self._rows) and first in self._rows[line - 1]:
                    return line
        return near

    def _near(self, node: nodes.Element) -> int:
        above: nodes.Element | None = node
        while above is not None and above.line is None:
            above = above.parent
        return 1 if above is None else above.line or 1

    def _margin(self, line: int) -> int:
        row = self._rows[line - 1].expandtabs(8)
        return len(row) - len(row.lstrip())

    def _inside(self, node: nodes.Element) -> str:
        return "".join(self._inline(child) for child in node.children)

    def _inline(self, node: nodes.Node) -> str:
        """What a node says with as many line breaks as it has in the source."""
        said = self._said(node)
        lacking = getattr(node, "rawsource", "").count("\n") - said.count("\n")
        return said + "\n" * max(lacking, 0) if isinstance(node, nodes.Element) else said

    def _said(self, node: nodes.Node) -> str:
        match node:
            case nodes.Text():
                return node.astext()
            case nodes.literal() | nodes.math():
                return _coded(node.astext())
            case nodes.strong():
                return f"**{self._inside(node)}**"
            case nodes.emphasis():
                return f"*{self._inside(node)}*"
            case nodes.image():
                return f"![{node.get('alt', '')}]({node.get('uri', '')})"
            case nodes.reference():
                return self._reference(node)
            case nodes.footnote_reference() | nodes.citation_reference():
                return f"[{node.astext()}]"
            case nodes.substitution_reference():
                name = nodes.whitespace_normalize_name(node.astext())
                return self._substituted.get(name, f"|{node.astext()}|")
            case nodes.target() if node.get("refuri"):
                return ""  # what a reference beside it leads to
            case nodes.inline() if node.get("role"):
                return self._role(node["role"], node.astext())
            case nodes.Element():
                return self._inside(node)
        return node.astext()

    def _reference(self, node: nodes.reference) -> str:
        said = self._inside(node)
        to = node.get("refuri", "")
        if to:
            return said if to.removeprefix("mailto:") == said else f"[{said}]({to})"
        return self._link(said, node.get("refname") or said)

    def _link(self, said: str, name: str) -> str:
        title = self._labels.get(nodes.fully_normalize_name(name))
        return f"[{said}](#{slug(title)})" if title else said

    def _role(self, role: str, text: str) -> str:
        titled = _TITLED.fullmatch(text)
        if role in _LITERAL_ROLES and titled is None:
            return _coded(text)
        if role in _BOLD_ROLES:
            return f"**{text}**"
        if titled is None:
            name = nodes.fully_normalize_name(text)
            return self._link(self._labels.get(name, text) if role == "ref" else text, text)
        target = titled["target"]
        linked = self._link(titled["title"], target)
        # Where it leads to is part of what is written, too.
        return linked if linked != titled["title"] else f"[{titled['title']}]({target})"

    # Blocks

    def _list(self, node: nodes.Element) -> Iterator[Block]:
        children = [item for item in node.children if isinstance(item, nodes.list_item)]
        start = int(node.get("start", 1))
        counter = _COUNTERS.get(node.get("enumtype", ""), "")
        items = []
        for at, child in enumerate(children, start):
            number = ""
            if isinstance(node, nodes.enumerated_list):
                is_letter = counter and at <= 26
                number = chr(ord("a") + at - 1) if is_letter else str(at)
            items.append(_around("item", self.blocks(child), number))
        yield from _listed(items)

    def _pairs(self, node: nodes.Element) -> Iterator[Block]:
        """Terms, options or fields, each with what is said of it."""
        items = []
        for child in node.children:
            if isinstance(child, nodes.field):
                yield from self._field(child)
            else:
                items.append(_around("item", self.blocks(child)))
        yield from _listed(items)

    def _field(self, node: nodes.field) -> Iterator[Block]:
        name, body = (one for one in node.children if isinstance(one, nodes.Element))
        inner = self.blocks(body)
        line = self._line(name)
        said = f"{self._inside(name)}:"
        if inner and inner[0].kind == "text":
            first_line, first = inner[0].lines[0]
            same = first_line == line
            inner[0].lines[:1] = (
                [(line, f"{said} {first}")] if same else [(line, said), (first_line, first)]
            )
            inner[0].line = line
            yield from inner
        else:
            yield Block("text", line, line, [(line, said)])
            yield from inner

    def _line_block(self, node: nodes.Element) -> Iterator[Block]:
        for child in node.children:
            if isinstance(child, nodes.line):
                yield from self._written(self._inside(child), child)
            else:
                yield from self._blocks(child)

    def _code(self, node: nodes.Element) -> Iterator[Block]:
        rows = node.astext().split("\n")
        language = node.get("language", "")
        if "content" in node:
            line, first = node["content"], node["first"]
        else:
            line = first = self._line(node)
        caption = " ".join(node.get("caption", "").split())
        if caption:
            yield Block("text", first, first, [(first, caption)], indent=self._margin(first))
        lines = [(min(line + at, len(self._rows)), row) for at, row in enumerate(rows)]
        if any(row.strip() for row in rows):
            block = code_block(lines, language, first, lines[-1][0])
            block.indent = self._margin(first)
            yield block

    def _callout(self, node: nodes.Element, kind: str) -> Iterator[Block]:
        title = node.next_node(nodes.title, descend=True)
        told = title.astext().strip().lower() if title is not None else ""
        if kind == "admonition" and told in ("warning", "caution", "danger", "important"):
            kind = told
        inner = self.blocks(node)
        if inner:
            block = _around("callout", inner)
            block.info, block.indent = kind, self._margin(block.line)
            yield block

    def _table(self, node: nodes.Element) -> Iterator[Block]:
        lines: list[tuple[int, str]] = []
        last = 0
        for row in node.findall(nodes.row):
            cells = [self.blocks(entry) for entry in row.children]
            found = [inner for cell in cells for block in cell for inner in _all(block)]
            if not found:
                continue
            texts = [" ".join(_cell(block) for block in cell).replace("|", "\\|") for cell in cells]
            lines.append((min(block.line for block in found), f"| {' | '.join(texts)} |"))
            last = max(last, *(block.last for block in found))
        for child in node.children:
            if isinstance(child, nodes.title):
                yield from self._written(self._inside(child), child)
        if lines:
            yield Block("table", lines[0][0], last, lines, indent=self._margin(lines[0][0]))


def _coded(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}"


def _around(kind: str, children: list[Block], number: str = "") -> Block:
    """A block that others stand in, as far as they reach."""
    block = Block("item" if kind == "item" else "callout", 0, 0, children=children, number=number)
    if children:
        block.line, block.last = children[0].line, max(one.last for one in children)
        block.indent = children[0].indent
    return block


def _listed(items: Sequence[Block]) -> Iterator[Block]:
    items = [item for item in items if item.children]
    if items:
        first, last = items[0], items[-1]
        yield Block("list", first.line, last.last, children=list(items), indent=first.indent)


def _all(block: Block) -> Iterator[Block]:
    yield block
    for child in block.children:
        yield from _all(child)


def _cell(block: Block) -> str:
    if block.kind == "code":
        return " ".join(f"`{text.strip()}`" for _, text in block.lines[1:-1] if text.strip())
    return " ".join([*(text for _, text in block.lines), *map(_cell, block.children)])
