"""Blocks as sections under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from dcf.sop.runbook.block import Block
from dcf.sop.runbook.headings import Purpose, purpose_of

_BOLD = re.compile(r"(?:\*\*|__)(?P<title>[^*_\n]{2,80}?)(?:\*\*|__)[ :]*")
_BOLD_LEVEL = 7
_LIST_LEVEL = 8
_LONGEST_LINE = 40


_SEVERITY = re.compile(
    r"(?:critical|warnings?|info(?:rmation(?:al)?)?|errors?|fatal|major|minor|high|medium|low|severe"
    r"|emergency|urgent|page|ticket|notice)(?: (?:alerts?|severity|level|priority|incidents?))?",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
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
    for at, block in enumerate(blocks):
        heading = block if block.kind == "heading" else _bold_heading(block)
        following = blocks[at + 1] if at + 1 < len(blocks) else None
        if heading is None and _is_list_heading(block, following):
            # A line that names a list, without the marks of a heading, is over that list alone.
            heading = Block("heading", block.line, block.last, block.lines, level=_LIST_LEVEL)
        if heading is None:
            path[-1].blocks.append(block)
            if path[-1].level == _LIST_LEVEL:
                path.pop()
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
    for section in root.all():
        severities = [
            one for one in section.children if _SEVERITY.fullmatch(one.title.strip("*_ "))
        ]
        for one in severities if len(severities) > 1 else ():
            one.purpose = "unknown"  # ``Warning`` beside ``Critical`` tells how bad it is
    return root


def _is_list_heading(block: Block, following: Block | None) -> bool:
    if block.kind != "text" or len(block.lines) != 1 or following is None:
        return False
    said = block.text.rstrip(":").strip("*_ ")
    if following.kind != "list" or len(said) > _LONGEST_LINE or said.endswith("."):
        return False
    return purpose_of(said) != "unknown"


def _bold_heading(block: Block) -> Block | None:
    if block.kind != "text" or len(block.lines) != 1:
        return None
    found = _BOLD.fullmatch(block.text)
    if found is None or found["title"].rstrip().endswith((".", "!", ",")):
        return None
    line = block.line
    return Block("heading", line, block.last, [(line, found["title"])], level=_BOLD_LEVEL)
