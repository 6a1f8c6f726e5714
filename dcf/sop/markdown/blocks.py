"""Lines of text as blocks: a paragraph joined to one line, a bullet, a table row, a code fence."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dcf.sop.language.labels import is_label
from dcf.sop.markdown.outline import Line

_BULLET = re.compile(r"[-*+](?:\s|$)")
_PHRASE = re.compile(
    r"(?:\*\*)?(?:If|Unless|When|In case|Otherwise|Then|Go to|Stop|Finish|Continue|Retry|Within"
    r"|Wait|For each|Approval|At the same time|In parallel|On)\b"
)
_NEW = re.compile(r"[-*+](?:\s|$)|[0-9]{1,9}[.)](?:\s|$)|[|>]")


@dataclass(frozen=True, slots=True)
class Block:
    """``literal``: it began with a backslash (taken off), so it is text whatever it says. ``lines``
    has where in ``text`` each line begins, with its number."""

    text: str
    lines: tuple[tuple[int, int], ...]
    literal: bool = False

    @property
    def line(self) -> int:
        return self.lines[0][1]

    def line_at(self, offset: int) -> int:
        """The number of the line that has the character at ``offset``."""
        return self.lines[max(bisect_right(self.lines, (offset, sys.maxsize)) - 1, 0)][1]


def text_blocks(lines: Iterable[Line]) -> Iterator[Block]:
    """The blocks of ``lines``. A line that begins with a label is a block of its own."""
    gathered: list[Line] = []
    for line in lines:
        goes_on = line.fenced == gathered[0].fenced if gathered else True
        if gathered and (not goes_on or _parted(line) or _begins_anew(gathered[-1], line)):
            yield _block(gathered)
            gathered = []
        if not line.is_blank:
            gathered.append(line)
    if gathered:
        yield _block(gathered)


def _parted(line: Line) -> bool:
    return not line.fenced and (line.is_blank or _starts_block(line.text.strip()))


def _begins_anew(before: Line, line: Line) -> bool:
    """Whether a phrase begins on ``line`` though the line before has no full stop."""
    if line.fenced or before.text.rstrip().endswith((".", "!", "?", ";", ":", ",")):
        return False
    return bool(_PHRASE.match(line.text.strip()))


def _starts_block(text: str) -> bool:
    if text.startswith("\\"):
        return True
    return bool(_NEW.match(text)) or (text[:1].isupper() and is_label(text))


def _block(lines: list[Line]) -> Block:
    if lines[0].fenced:
        text = "\n".join(line.text for line in lines)
        return Block(text, ((0, lines[0].number),), literal=True)
    starts, pieces, length = [], [], 0
    for line in lines:
        starts.append((length, line.number))
        pieces.append(line.text.strip())
        length += len(pieces[-1]) + 1
    text = " ".join(pieces)
    if text.startswith("\\"):
        return Block(text[1:], tuple(starts), literal=True)
    bullet = _BULLET.match(text)
    if bullet and text[bullet.end() :].lstrip().startswith("\\"):
        literal = f"{text[0]} {text[bullet.end() :].lstrip()[1:]}"
        return Block(literal, tuple(starts), literal=True)
    return Block(text, tuple(starts))


def is_bullet(text: str) -> bool:
    return bool(_BULLET.match(text))


def is_fence(text: str) -> bool:
    return text.lstrip().startswith(("```", "~~~"))
