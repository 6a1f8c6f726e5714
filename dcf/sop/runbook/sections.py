"""Blocks as sections under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dcf.sop.runbook.blocks import Block
from dcf.sop.runbook.headings import Purpose, purpose_of

_BOLD = re.compile(r"(?:\*\*|__)(?P<title>[^*_\n]{2,80}?)(?:\*\*|__)[ :]*")
_BOLD_LEVEL = 7


@dataclass(slots=True)
class Section:
    """``level`` 0 is what stands before any heading; a paragraph that is all bold is a heading of
    the lowest level. ``path`` are the titles above it and its own."""

    level: int
    title: str
    line: int
    path: tuple[str, ...] = ()
    last: int = 0
    purpose: Purpose = "unknown"
    blocks: list[Block] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)

    def all(self) -> Iterator[Section]:
        yield self
        for child in self.children:
            yield from child.all()

    def all_blocks(self) -> Iterator[Block]:
        for section in self.all():
            yield from section.blocks


def read_sections(blocks: Sequence[Block]) -> Section:
    """The root has what stands before the first heading."""
    root = Section(0, "", 1)
    path = [root]
    for block in blocks:
        heading = block if block.kind == "heading" else _bold_heading(block)
        if heading is None:
            path[-1].blocks.append(block)
            continue
        while path[-1].level >= heading.level:
            path.pop()
        title = " ".join(heading.text.split())
        above = path[-1]
        section = Section(
            heading.level, title, block.line, (*above.path, title), block.last, purpose_of(title)
        )
        above.children.append(section)
        path.append(section)
    return root


def _bold_heading(block: Block) -> Block | None:
    if block.kind != "text" or len(block.lines) != 1:
        return None
    found = _BOLD.fullmatch(block.text)
    if found is None or found["title"].rstrip().endswith((".", "!", ",")):
        return None
    line = block.line
    return Block("heading", line, block.last, [(line, found["title"])], level=_BOLD_LEVEL)
