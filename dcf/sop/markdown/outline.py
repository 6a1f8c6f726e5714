"""Markdown as sections of lines. Only headings, comments, rules and code fences are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dcf.sop.findings import Findings

_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t]|$)")
_CLOSING = re.compile(r"(?:^|(?<=[ \t]))#+$")
_RULE = re.compile(r" {0,3}(?:-(?:[ \t]*-){2,}|\*(?:[ \t]*\*){2,}|_(?:[ \t]*_){2,})[ \t]*")
_COMMENT = re.compile(r"`[^`]*`|(?P<slashes>(?<!\\)\\*)<!--")
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
        heading = None if line.fenced else _HEADING.match(line.text)
        if heading:
            title = line.text[heading.end() :].strip()
            # Hashes at the end close the heading.
            title = _CLOSING.sub("", title).rstrip()
            sections.append(Section(len(heading["marks"]), title, line.number))
        elif line.fenced or not _RULE.fullmatch(line.text):
            sections[-1].lines.append(line)
    return sections


def _visible(text: str, findings: Findings) -> Iterator[Line]:
    """The lines outside of comments."""
    fence, opened = "", 0
    comment = 0
    for number, whole in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = whole
        # A fence is one before what stands behind its marks is read (CommonMark 4.5).
        if not fence and (comment or not _FENCE.match(whole)):
            line, goes_on = _without_comments(whole, bool(comment))
            comment = (comment or number) if goes_on else 0
            if line != whole and not line.strip():
                continue
        marks = _FENCE.match(line)
        if fence:
            yield Line(number, line, fenced=True)
            if line.strip() == fence:
                fence = ""
        elif marks:
            fence, opened = marks["marks"], number
            yield Line(number, line, fenced=True)
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


def _without_comments(line: str, inside: bool) -> tuple[str, bool]:
    """``line`` without its comments, of which one may go on from the line before (``inside``), and
    whether one goes on after it. A backslash before its mark makes text of it."""
    parts: list[str] = []
    at = 0
    while True:
        if inside:
            end = line.find("-->", at)
            if end < 0:
                return "".join(parts), True
            at = end + 3
            if not "".join(parts).strip():
                line = line[:at] + line[at:].lstrip()
            inside = False
        found = _COMMENT.search(line, at)
        if found is None:
            return "".join([*parts, line[at:]]), False
        slashes = found["slashes"]
        if slashes is None:  # code between backticks
            parts.append(line[at : found.end()])
        elif len(slashes) % 2:
            parts.append(f"{line[at : found.start()]}{slashes[: len(slashes) // 2]}<!--")
        else:
            parts.append(line[at : found.end() - 4])
            inside = True
        at = found.end()


def escape_comments(text: str) -> str:
    """``text``, whose marks of comments are text, as it is written."""
    lines, fence = [], ""
    for line in text.split("\n"):
        marks = _FENCE.match(line)
        if not fence and not marks:
            line = _COMMENT.sub(_escaped, line)
        elif not fence and marks:
            fence = marks["marks"]
        elif line.strip() == fence:
            fence = ""
        lines.append(line)
    return "\n".join(lines)


def _escaped(found: re.Match[str]) -> str:
    slashes = found["slashes"]
    return found[0] if slashes is None else f"{slashes}{slashes}\\<!--"


def is_structure(line: str) -> bool:
    """Whether ``line`` is more than text, wherever it stands: such a line is written with a
    backslash before it when text is meant."""
    return bool(
        line.startswith("\\") or _HEADING.match(line) or _RULE.fullmatch(line) or _FENCE.match(line)
    )
