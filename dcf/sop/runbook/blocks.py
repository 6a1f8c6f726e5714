"""Markdown as a tree of blocks, each with its lines, by a CommonMark parser.

What the parser does not know and people write all the same is put right afterwards: ``3a.`` and
``3.2`` begin items, a bullet that is indented more than a step (or stands right below it) belongs
to the step, and so does what stands between step 2 and a list that begins with 3.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.fences import told
from dcf.sop.runbook.myst import LABEL, linked, opened

_DEEPEST = 24
"""Blocks inside blocks that the parser follows; what is deeper is found by its lines alone."""
_LONGEST_FENCE = 12
"""Marks of a fence that others may stand in: each of those has fewer."""
_ITEM = re.compile(
    r"(?:(?:[Ss]tep|[Ss]chritt|[ÉéEe]tape|[Pp]aso"
    r"|[Pp]asso)\s+)?(?P<number>[0-9]{1,4}[a-z]?(?:\.[0-9]{1,4}[a-z]?)*)(?:[.):]|\s[-–—])\s+(?=\S)"
    r"|(?P<dotted>[0-9]{1,4}[a-z]?(?:\.[0-9]{1,4}[a-z]?)+)\s+(?=[A-Z])"
    r"|\((?P<bracket>[0-9]{1,3}|[a-z])\)\s+(?=\S)|(?P<circled>[①-⑳])\s*(?=\S)|(?P<bullet>[•▪‣◦●·☐☑✓✔✅❌➡→])\s*(?=\S)"
)
_LETTER = re.compile(r"(?P<letter>[A-Za-z])[.)]\s+(?=\S)")
_LIST_LINE = re.compile(r"\s*(?:[-*+]|[0-9]{1,4}[.)])\s+\S")
_CHECKBOX = re.compile(r"\[(?P<mark>[ xX]?)\]\s+")
_COUNTED = re.compile(
    r"[*_]{0,2}(?:step|schritt|étape|paso"
    r"|passo)\s+(?P<number>[0-9]{1,4}[a-z]?)[*_]{0,2}\s*[:.)–—-]+"
    r"[*_]{0,2}\s*(?=\S)",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Z][^`$=|<>{}]*\s\S+\s\S+.*[.:!?]$")
_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    # Sentences are read as they are written, and definitions of links are lines as any other.
    return parser.disable(["inline", "reference"])


def read_blocks(text: str, first: int = 1) -> list[Block]:
    """The blocks of ``text``, whose first line has the number ``first``."""
    source = text.split("\n")
    root = Block("quote", first, first)
    stack = [root]
    for token in _parser().parse(text):
        _take(token, stack, source, first)
    linked(root.children)
    return mended(root.children)


def _take(token: Token, stack: list[Block], source: list[str], first: int) -> None:
    parent = stack[-1]
    kind = token.type
    if kind.endswith("_close"):
        if kind in _CONTAINERS:
            stack.pop()
        return
    if parent.kind == "table" or token.map is None:
        return
    begin, end = token.map
    line = first + begin
    while end > begin + 1 and not source[end - 1].strip():
        end -= 1
    last = max(first + end - 1, line)
    margin = source[begin].expandtabs(4) if begin < len(source) else ""
    block = Block("text", line, last, indent=len(margin) - len(margin.lstrip()))
    match kind:
        case "inline":
            if stack[-1].kind != "heading":
                block.lines = _numbered(token.content, line)
                block.kind = "html" if LABEL.fullmatch(token.content) else "text"
                parent.children.append(block)
            else:
                parent.lines = _numbered(_HASHES.sub("", token.content), line)
            return
        case "heading_open":
            block.kind, block.level = "heading", int(token.tag[1:])
        case "bullet_list_open" | "ordered_list_open":
            block.kind = "list"
        case "list_item_open":
            block.kind, block.number = "item", token.info
        case "blockquote_open":
            block.kind = "quote"
        case "table_open":
            block.kind = "table"
            block.lines = [(first + at, source[at].strip()) for at in range(begin, end)]
        case "fence" | "code_block":
            _code(token, block, source, begin, end, first)
            if kind == "code_block":
                parent.children += _told(block)
            elif len(token.markup) > _LONGEST_FENCE:
                parent.children.append(block)
            elif found := told(block, read_blocks, _above(parent)):
                parent.children += _below(found, parent)
            else:
                parent.children += opened(block, read_blocks)
            return
        case "html_block":
            block.kind = "html"
            block.lines = [(first + at, source[at].strip()) for at in range(begin, end)]
        case _:
            return
    parent.children.append(block)
    if kind.endswith("_open"):
        stack.append(block)


_CONTAINERS = frozenset(
    f"{name}_close"
    for name in ("heading", "bullet_list", "ordered_list", "list_item", "blockquote", "table")
)


def _numbered(text: str, line: int) -> list[tuple[int, str]]:
    return [(line + at, row.strip()) for at, row in enumerate(text.split("\n"))]


def _code(token: Token, block: Block, source: list[str], begin: int, end: int, first: int) -> None:
    """``lines`` of a fence have its marks, so that its text is a fence again."""
    block.kind, block.info = "code", token.info.strip()
    rows = token.content.removesuffix("\n").split("\n")
    if token.type == "code_block":
        block.lines = [(first + begin + at, row) for at, row in enumerate(rows)]
        return
    block.lines = [(first + begin, f"{token.markup}{token.info}")]
    block.lines += [(first + begin + 1 + at, row) for at, row in enumerate(rows)]
    block.lines.append((block.lines[-1][0], token.markup))


def _above(parent: Block) -> list[str]:
    """The sentence before a fence, and the headings over it that are not the title."""
    before = parent.children[-1] if parent.children else None
    said = before.text.rsplit("\n", 1)[-1] if before is not None and before.kind == "text" else ""
    found, level = [said], 7
    for block in reversed(parent.children):
        if block.kind == "heading" and block.level < level:
            level = block.level
            found += [block.text] if level > 1 else []
            if level <= 2:
                break
    return found


def _below(found: list[Block], parent: Block) -> list[Block]:
    """What a fence tells, with its headings below the one that the fence stands under."""
    over = next((one.level for one in reversed(parent.children) if one.kind == "heading"), 0)
    levels = [one.level for one in found if one.kind == "heading"]
    shift = max(over + 1 - min(levels, default=over + 1), 0)
    for block in found:
        block.level += shift if block.kind == "heading" else 0
    return found


def _told(block: Block) -> list[Block]:
    """What is indented far is a list, or prose, as often as it is code."""
    rows = [text.strip() for _, text in block.lines if text.strip()]
    if rows and (_LIST_LINE.match(rows[0]) or _PROSE.fullmatch(rows[0])):
        shift = min(len(text) - len(text.lstrip()) for _, text in block.lines if text.strip())
        inner = read_blocks("\n".join(text[shift:] for _, text in block.lines), block.line)
        for one in inner:
            one.indent += block.indent
        return inner
    block.lines = [
        (block.line, "```"),
        *block.lines,
        (block.last, "```"),
    ]
    return [block]


def mended(blocks: list[Block]) -> list[Block]:
    """``blocks`` and all inside them, with lists as people mean them."""
    for block in blocks:
        if block.children:
            block.children = mended(block.children)
        if block.kind == "item":
            _read_checkbox(block)
    return list(_adopted(_itemised(blocks)))


def _read_checkbox(item: Block) -> None:
    if not item.children or item.children[0].kind != "text":
        return
    first = item.children[0]
    number, text = first.lines[0]
    found = _CHECKBOX.match(text)
    if found:
        item.is_checkbox = True
        text = text[found.end() :]
    counted = _COUNTED.match(text)
    if counted and not item.number:
        item.number = counted["number"]
        text = text[counted.end() :]
    first.lines[0] = (number, text)


def _itemised(blocks: list[Block]) -> Iterator[Block]:
    """Lines of a paragraph that begin with a step's number, as lists of their own."""
    lettered = _lettered(blocks)
    for block in blocks:
        numbers = [(line, found) for line, text in block.lines if (found := _number_of(text))]
        numbers += [(line, found) for line, found in lettered.items() if block.holds(line)]
        if block.kind == "text" and numbers:
            yield from _split_items(block, dict(numbers))
        else:
            yield block


def _number_of(text: str) -> tuple[str, int] | None:
    """The number of the item that a line begins, and where its text begins."""
    found = _ITEM.match(text)
    if found is None:
        return None
    number = found["number"] or found["dotted"] or found["bracket"] or ""
    if circled := found["circled"]:
        number = unicodedata.normalize("NFKC", circled)
    return number, found.end()


def _lettered(blocks: list[Block]) -> dict[int, tuple[str, int]]:
    """By their lines, the letters of items where they follow one another from ``a``."""
    told = {
        line: (found["letter"].lower(), found.end())
        for block in blocks
        if block.kind == "text"
        for line, text in block.lines
        if (found := _LETTER.match(text))
    }
    letters = "".join(letter for letter, _ in told.values())
    return told if len(letters) > 1 and "abcdefghijklmnopqrstuvwxyz".startswith(letters) else {}


def _split_items(block: Block, numbers: dict[int, tuple[str, int]]) -> Iterator[Block]:
    before: list[tuple[int, str]] = []
    items: list[Block] = []
    for line, text in block.lines:
        found = numbers.get(line)
        if found:
            number, begin = found
            inner = Block("text", line, line, [(line, text[begin:])], indent=block.indent)
            items.append(
                Block("item", line, line, children=[inner], number=number, indent=block.indent)
            )
            _read_checkbox(items[-1])
        elif items:
            items[-1].children[0].lines.append((line, text))
            items[-1].last = items[-1].children[0].last = line
        else:
            before.append((line, text))
    if before:
        yield Block("text", before[0][0], before[-1][0], before, indent=block.indent)
    yield Block("list", items[0].line, block.last, children=items, indent=block.indent)


def _adopted(blocks: Iterator[Block]) -> Iterator[Block]:
    """What belongs to the last item of the numbered list before it, inside of that item."""
    steps: Block | None = None
    waiting: list[Block] = []
    for block in blocks:
        if block.kind == "heading":
            yield from _given(steps, waiting)
            steps = None
        elif steps is not None:
            item = steps.children[-1]
            if _goes_on(steps, block):
                item.children += waiting
                waiting = []
                steps.children += block.children
                steps.last = block.last
                continue
            near = block.kind == "list" and block.line == (waiting or [steps])[-1].last + 1
            if not waiting and block.kind != "table" and (block.indent > item.indent or near):
                item.children.append(block)
                item.last = steps.last = block.last
                continue
            if not _is_numbered(block):
                waiting.append(block)
                continue
            yield from _given(steps, waiting)
            steps = None
        if steps is None and _is_numbered(block):
            steps, waiting = block, []
        else:
            yield block
    yield from _given(steps, waiting)


def _given(steps: Block | None, waiting: list[Block]) -> Iterator[Block]:
    if steps is not None:
        yield steps
    yield from waiting
    waiting.clear()


def _is_numbered(block: Block) -> bool:
    return block.kind == "list" and bool(block.children) and bool(block.children[-1].number)


def _goes_on(steps: Block, block: Block) -> bool:
    if not _is_numbered(block) or block.indent > steps.indent + 1:
        return False
    before, after = steps.children[-1].number, block.children[0].number
    if before.isdigit() and after.isdigit():
        return int(after) == int(before) + 1
    if len(before) == len(after) == 1 and before.isalpha() and after.isalpha():
        return ord(after) == ord(before) + 1
    lead = re.match(r"[0-9]+", after)
    return not after.isdigit() and lead is not None and before.startswith(lead[0])
