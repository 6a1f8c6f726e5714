"""A piece of a runbook with what stands in it, whatever format it is written in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["text", "heading", "list", "item", "code", "table", "callout", "quote", "html"]


@dataclass(slots=True, eq=False)
class Block:
    """``lines`` are its text by line number (from 1), without what marks it; ``number`` as it is
    written before an item, empty for a bullet; ``level`` that of a heading; ``info`` the language
    of code or the kind of a call-out; ``indent`` the blanks before its first line."""

    kind: BlockKind
    line: int
    last: int
    lines: list[tuple[int, str]] = field(default_factory=list)
    children: list[Block] = field(default_factory=list)
    number: str = ""
    level: int = 0
    info: str = ""
    indent: int = 0
    is_checkbox: bool = False

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.lines)

    def holds(self, line: int) -> bool:
        return self.line <= line <= self.last
