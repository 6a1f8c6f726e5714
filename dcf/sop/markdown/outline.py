"""Markdown as sections of lines. Only headings, comments, rules and code fences are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dcf.sop.findings import Findings

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*")
_RULE = re.compile(r" {0,3}(?:-(?:[ \t]*-){2,}|\*(?:[ \t]*\*){2,}|_(?:[ \t]*_){2,})[ \t]*")
_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Line:
    """``number`` counts from 1. ``fenced`` lines are inside a code fence, its two marks too."""

    number: int
    text: str
    fenced: bool = False

    @property
    def indent(self) -> int:
        """Columns before the first other character; a tab is four."""
        expanded = self.text.expandtabs(4)
        return len(expanded) - len(expanded.lstrip())

    @property
    def is_blank(self) -> bool:
        return not self.fenced and not self.text.strip()


@dataclass(slots=True)
class Section:
    """A heading with the lines up to the next one. ``level`` 0 is what stands before any."""

    level: int
    title: str
    line: int
    lines: list[Line] = field(default_factory=list)


def read_outline(text: str, findings: Findings) -> list[Section]:
    """The sections of ``text``; comments and rules (``---``) are left out."""
    sections = [Section(0, "", 1)]
    for line in _visible(text, findings):
        heading = None if line.fenced else _HEADING.fullmatch(line.text)
        if heading:
            title = (heading["title"] or "").strip()
            sections.append(Section(len(heading["marks"]), title, line.number))
        elif line.fenced or not _RULE.fullmatch(line.text):
            sections[-1].lines.append(line)
    return sections


def _visible(text: str, findings: Findings) -> Iterator[Line]:
    """The lines outside of comments."""
    fence, opened = "", 0
    comment = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        if comment:
            comment = 0 if "-->" in line else comment
            continue
        marks = _FENCE.match(line)
        if fence:
            yield Line(number, line, fenced=True)
            if line.strip() == fence:
                fence = ""
        elif marks:
            fence, opened = marks["marks"], number
            yield Line(number, line, fenced=True)
        elif line.lstrip().startswith("<!--"):
            comment = 0 if "-->" in line else number
        else:
            yield Line(number, line)
    if comment:
        hint = "end it with -->"
        findings.add("SOP_MARKDOWN", "a comment (<!--) has no end", hint, comment)
        findings.cut_short = True
    if fence:
        hint = f"end it with a line {fence}"
        findings.add("SOP_MARKDOWN", "a code fence has no end", hint, opened)
        findings.cut_short = True


def is_structure(line: str) -> bool:
    """Whether ``line`` is more than text, wherever it stands: such a line is written with a
    backslash before it when text is meant."""
    return bool(
        line.startswith("\\")
        or _HEADING.fullmatch(line)
        or _RULE.fullmatch(line)
        or _FENCE.match(line)
        or line.startswith("<!--")
    )
