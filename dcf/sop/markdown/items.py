"""Lists as trees. What is indented more than a list item, however much, is inside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dcf.sop.findings import Findings
from dcf.sop.limits import MAX_DEPTH
from dcf.sop.markdown.outline import Line

_NUMBER = re.compile(
    r"(?:[Ss]tep\s+)?(?P<number>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)*)[.):](?:\s+|$)"
    r"|(?P<dotted>[0-9]+[a-z]?(?:\.[0-9]+[a-z]?)+)\s+"
)
_LETTER = re.compile(r"(?P<number>[a-z])[.)](?:\s+|$)")
_BULLET = re.compile(r"[-*+](?:\s+|$)")
_DEEPEST = 4 * MAX_DEPTH
"""Of items: steps, their bullets, the bullets of these."""


@dataclass(slots=True)
class Item:
    """``number`` as it is written, empty for a bullet. ``lines`` have the marker taken off."""

    number: str
    line: int
    indent: int
    lines: list[Line] = field(default_factory=list)
    children: list[Item] = field(default_factory=list)

    @property
    def is_bullet(self) -> bool:
        return not self.number


def read_items(lines: Iterable[Line], findings: Findings) -> tuple[list[Line], list[Item]]:
    """The lines before the first item, and the items at the top.

    A bullet as far to the left as the numbers at the top belongs to the step before it.
    """
    before: list[Line] = []
    top: list[Item] = []
    path: list[Item] = []
    after_blank = False
    for line in lines:
        item = None if line.fenced else _item(line, bool(path))
        if item is not None:
            _close(path, item)
            if len(path) == _DEEPEST:
                hint = "indent less: what is inside what?"
                findings.add("SOP_LIMIT", "the list is nested too deep", hint, line.number)
                findings.cut_short = True
                break
            (path[-1].children if path else top).append(item)
            path.append(item)
        elif not path:
            before.append(line)
        else:
            if after_blank and not line.is_blank:
                while len(path) > 1 and path[-1].indent >= line.indent:
                    path.pop()
            path[-1].lines.append(line)
        after_blank = line.is_blank
    return before, top


def _close(path: list[Item], item: Item) -> None:
    """Leave those that ``item`` is not inside of."""
    while path and path[-1].indent >= item.indent:
        alone = len(path) == 1 and path[-1].indent == item.indent
        if alone and item.is_bullet and not path[-1].is_bullet:
            return
        path.pop()


def _item(line: Line, inside: bool) -> Item | None:
    text = line.text.strip()
    found = _BULLET.match(text) or _NUMBER.match(text)
    if found is None and inside and line.indent:
        found = _LETTER.match(text)
    if found is None:
        return None
    number = next((each for each in found.groupdict().values() if each), "")
    return Item(number, line.number, line.indent, [Line(line.number, text[found.end() :])])


def all_items(items: Iterable[Item]) -> Iterator[Item]:
    """Every item, those inside others too."""
    for item in items:
        yield item
        yield from all_items(item.children)


def starts_item(text: str) -> bool:
    """Whether a line with ``text`` would be an item of a list."""
    return bool(_BULLET.match(text) or _NUMBER.match(text) or _LETTER.match(text))
