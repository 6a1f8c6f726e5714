"""Call-outs: warnings and notes, in the many ways that Markdown dialects have for them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.blocks import read_blocks
from dcf.sop.runbook.wording import Piece

_WARNINGS = (
    "warning|caution|danger|important|attention|critical|alert|error|stop|achtung|warnung"
    "|avertissement|advertencia"
)
_NOTES = (
    "note|tip|info|information|hint|nb|remark|example|success|question|hinweis|abstract|quote"
    "|details|aside"
)
_KIND = rf"(?P<kind>{_WARNINGS}|{_NOTES})s?"
_QUOTED = re.compile(
    rf"(?:\[!{_KIND}\]|[^\w\[]{{0,6}}(?::\w+:\s*)?[^\w\[]{{0,6}}{_KIND.replace('kind', 'bold')}"
    r"(?:\*\*|__)?\s*[:!–—-]?(?:\*\*|__)?)\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LABELLED = re.compile(
    rf"(?:[^\w\s]{{0,4}}\s?)?(?P<open>[*_]{{0,3}}){_KIND}[*_]{{0,3}}\s*[:!](?:[*_]{{1,3}})?\s+(?=\S)",
    re.IGNORECASE,
)
_FOR_READERS = re.compile(r"(?:\*\*|__)for [\w ]{2,30}:?(?:\*\*|__):?\s", re.IGNORECASE)
"""``> **For engineers:** …``: what is told to whoever does the steps, rather than a quotation."""
_FENCE = re.compile(rf"(?P<mark>:{{3,}})\s*\{{?\s*{_KIND}\b\}}?\s*(?P<rest>.*)", re.IGNORECASE)
_FENCE_ALONE = re.compile(r":{3,}\s*\{?\s*\w+\s*\}?\s*")
_ADMONITION = re.compile(
    rf"(?:!!!|\?\?\?\+?|===)\s+{_KIND}\b\s*(?P<rest>.*)|\.\. "
    rf"{_KIND.replace('kind', 'rst')}::\s*(?P<told>.*)",
    re.IGNORECASE,
)
_LIQUID = re.compile(
    rf"\{{[{{%]<?\s*/?\s*(?:end)?{_KIND}\b[^}}]*[}}%]\}}\s*(?P<rest>.*)", re.IGNORECASE
)
_DIRECTIVE = re.compile(rf"\{{{_KIND}\}}", re.IGNORECASE)
_IS_WARNING = re.compile(rf"(?:{_WARNINGS})s?", re.IGNORECASE)


@dataclass(slots=True)
class Callout:
    """``title`` is the line that opens it, where that says more than its kind."""

    kind: str
    title: Piece | None
    blocks: list[Block]

    @property
    def is_warning(self) -> bool:
        return bool(_IS_WARNING.fullmatch(self.kind))


def with_callouts(blocks: Sequence[Block]) -> Iterator[Block | Callout]:
    """``blocks`` with call-outs for those that are: a quotation that begins with ``[!NOTE]`` or
    ``**Warning**``, ``:::warning`` up to ``:::``, ``!!! note`` with what is indented below, a
    directive, a paragraph after ``Warning:``."""
    closing = [index for index, block in enumerate(blocks) if _closes(block)]
    at = 0
    while at < len(blocks):
        block = blocks[at]
        opened = _FENCE.match(block.text) if block.kind == "text" else None
        if opened is None:
            yield callout_of(block) or block
            at += 1
            continue
        first = at if len(block.lines) > 1 else at + 1
        behind = bisect_left(closing, first)
        end = closing[behind] if behind < len(closing) else at
        yield _fenced(opened["kind"], list(blocks[at : end + 1]))
        at = end + 1


def _fenced(kind: str, blocks: list[Block]) -> Callout:
    """What stands between ``:::warning`` and ``:::``; the first of them is its title."""
    begin, end = blocks[0], blocks[-1]
    title = None
    if _FENCE_ALONE.fullmatch(begin.lines[0][1]):
        line, said = begin.lines[0]
        title = Piece(line, line, said)
        blocks[0] = replace(begin, lines=begin.lines[1:])
    if _closes(end):
        blocks[-1] = replace(blocks[-1], lines=blocks[-1].lines[:-1])
    return Callout(kind, title, [one for one in blocks if one.lines or one.children])


def _closes(block: Block) -> bool:
    """Whether the last line of a paragraph is ``:::``."""
    return block.kind == "text" and not block.lines[-1][1].strip(":") and bool(block.lines[-1][1])


def callout_of(block: Block) -> Callout | None:
    """The call-out that a single block is."""
    if block.kind == "callout":
        return Callout(block.info, None, block.children)
    if block.kind == "quote" and block.children and block.children[0].kind in ("text", "heading"):
        found = _QUOTED.match(block.children[0].text)
        if found:
            return Callout(found["kind"] or found["bold"], None, block.children)
        if _FOR_READERS.match(block.children[0].text):
            return Callout("note", None, block.children)
    if block.kind == "text":
        found = _ADMONITION.match(block.text)
        if found:
            return Callout(found["kind"] or found["rst"], None, [block])
        found = _LIQUID.match(block.text) or _LABELLED.match(block.text)
        if found:
            return Callout(found["kind"], None, [block])
    if block.kind == "code":
        found = _DIRECTIVE.fullmatch(block.info.split(" ")[0]) if block.info else None
        if found:
            inner = block.lines[1:-1]
            told = read_blocks("\n".join(text for _, text in inner), block.line + 1)
            title = Piece(block.line, block.line, block.lines[0][1])
            return Callout(found["kind"], title, told)
    return None
