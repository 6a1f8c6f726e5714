"""The lines of a text, and what each of them stands under.

A line says something else under another heading: lines are compared only where all that they stand
under is the same.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from dcf.search import words

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s")
_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_FENCE = ("```", "~~~")
_FEWEST = 3
"""Words of a line that says something by itself."""


@dataclass(frozen=True, slots=True)
class Line:
    """``under`` are the headings, introductions and list items that it belongs to. ``plain`` is a
    line that says something by itself: no code, no table, no heading, no word or two; it is
    ``free`` to go if nothing stands under it."""

    number: int
    text: str
    under: tuple[str, ...]
    plain: bool
    free: bool

    @property
    def same(self) -> tuple[tuple[str, ...], str]:
        """Equal for lines that differ in spaces and list marks at most."""
        return self.under, bare(self.text)


def bare(text: str) -> str:
    """A line without its list mark and needless spaces, and without a full stop at the end."""
    return " ".join(_MARK.sub("", text, count=1).split()).rstrip(".;,")


def is_data(text: str) -> bool:
    """Whether ``text`` is JSON with structure, of which no line can be spared."""
    if text.strip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def lines_of(text: str) -> list[Line]:
    """The lines of ``text``; joined by newlines they are the text again."""
    found: list[Line] = []
    headings: list[tuple[int, str]] = []
    items: list[tuple[int, str, int]] = []
    parents: set[int] = set()
    introduction = ""
    fence = ""
    for number, line in enumerate(text.split("\n")):
        bared, indent = bare(line), len(line) - len(line.lstrip())
        heading = None if fence else _HEADING.match(line)
        if heading:
            depth = len(heading.group(1))
            headings = [one for one in headings if one[0] < depth]
        if heading or (indent == 0 and bared.endswith(":")):
            items, introduction = [], ""
        items = [one for one in items if one[0] < indent]
        under = (
            *(one for _, one in headings),
            *((introduction,) if introduction else ()),
            *(one for _, one, _ in items),
        )
        parents.update(parent for _, _, parent in items if bared)
        fenced = bool(fence) or line.lstrip().startswith(_FENCE)
        plain = not (fenced or heading) and _says_something(line, indent)
        found.append(Line(number, line, under, plain, plain))
        if line.lstrip().startswith(_FENCE):
            opened = line.lstrip()[:3]
            fence = "" if fence == opened else fence or opened
        elif not fence and heading:
            headings.append((len(heading.group(1)), bared))
        elif not fence and bared.endswith(":") and indent == 0:
            introduction = bared
        elif not fence and _MARK.match(line):
            items.append((indent, bared, number))
    # What a line stands under must stay as long as the line does.
    return [replace(line, free=line.plain and line.number not in parents) for line in found]


def _says_something(line: str, indent: int) -> bool:
    is_item = _MARK.match(line) is not None
    is_code = (indent >= 4 or line.startswith("\t")) and not is_item
    stripped = line.strip()
    if is_code or stripped.startswith("|") or bare(line).endswith(":"):
        return False
    return len(words(stripped)) >= _FEWEST
