"""What Sphinx adds to Markdown (MyST): directives in fences, labels, and references to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.headings import slug

_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.+-]+)\}\s*(?P<language>[\w+#-]*).*")
_CODE = frozenset({"code", "code-block", "code-cell", "sourcecode", "prompt", "parsed-literal"})
_AROUND = re.compile(
    r"(?:tab-?(?:set|item)s?|tabs?|group-tab|code-tab|dropdown|card(?:-body)?|grid(?:-item)?"
    r"(?:-card)?|admonition|only|container|details|toggle|div|epigraph|panels?|sidebar|topic)"
)
_OPTION = re.compile(r":[\w-]+:.*")
LABEL = re.compile(r"\((?P<name>[\w .:/+-]+)\)=")
_ROLE = re.compile(r"\{(?:ref|numref|std:ref)\}`(?:(?P<title>[^`<]*?)\s*<)?(?P<name>[^`<>]+)>?`")
_LINK = re.compile(r"\]\(#(?P<name>[^)\s]+)\)")


def opened(fence: Block, read: Callable[[str, int], list[Block]]) -> Iterator[Block]:
    """A fence as what it is: of a directive for code, code in its language, below its options; of
    one that only stands around something, what ``read`` finds in it."""
    found = _DIRECTIVE.fullmatch(fence.info)
    name = found["name"].lower() if found else ""
    is_table = name == "list-table"
    if found is None or not (name in _CODE or is_table or _AROUND.fullmatch(name)):
        yield fence
        return
    rows = fence.lines[1:-1]
    options = 0
    while options < len(rows) and _OPTION.fullmatch(rows[options][1].strip()):
        options += 1
    if name in _CODE:
        if options:
            said = rows[:options]
            yield Block("text", said[0][0], said[-1][0], said, indent=fence.indent)
            del fence.lines[1 : options + 1]
        fence.info = found["language"]
        yield fence
        return
    head = [fence.lines[0], *rows[:options]]
    yield Block("html", fence.line, head[-1][0], head, indent=fence.indent)
    if rows[options:]:
        inner = read("\n".join(text for _, text in rows[options:]), rows[options][0])
        yield from _tables(inner) if is_table else inner


def _tables(blocks: Sequence[Block]) -> Iterator[Block]:
    """Lists of lists as tables: an item for each row, and one in it for each cell."""
    for block in blocks:
        lines = []
        for row in block.children if block.kind == "list" else ():
            cells = [cell for one in row.children if one.kind == "list" for cell in one.children]
            said = [" ".join(_texts(cell)).replace("|", "\\|") for cell in cells]
            lines.append((row.line, f"| {' | '.join(said)} |"))
        if lines:
            yield Block("table", block.line, block.last, lines, indent=block.indent)
        else:
            yield block


def _texts(block: Block) -> Iterator[str]:
    rows = block.lines[1:-1] if block.kind == "code" else block.lines
    yield from (text for _, text in rows)
    for child in block.children:
        yield from _texts(child)


def linked(blocks: Sequence[Block]) -> None:
    """Let references to labels lead to the headings that the labels stand before."""
    titles: dict[str, str] = {}
    waiting: list[str] = []
    for block in blocks:
        label = LABEL.fullmatch(block.text) if block.kind == "html" else None
        if label is not None:
            waiting.append(label["name"])
        else:
            if block.kind == "heading":
                titles |= dict.fromkeys(waiting, block.text)
            waiting = []
    if titles:
        _link(blocks, titles)


def _link(blocks: Sequence[Block], titles: dict[str, str]) -> None:
    def role(found: re.Match[str]) -> str:
        title = titles.get(found["name"].strip())
        return f"[{found['title'] or title}](#{slug(title)})" if title else found[0]

    def link(found: re.Match[str]) -> str:
        title = titles.get(found["name"])
        return f"](#{slug(title)})" if title else found[0]

    for block in blocks:
        if block.kind != "code":
            block.lines = [
                (line, _LINK.sub(link, _ROLE.sub(role, text))) for line, text in block.lines
            ]
        _link(block.children, titles)
