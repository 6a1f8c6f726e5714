"""The section of a file that stands between two markers, each a comment of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dcf.memory.checking import refuse
from dcf.problem import Problem

OPEN, CLOSE = "<!-- dcf:observations -->", "<!-- /dcf:observations -->"
_MARKER = re.compile(rb"<!--[ \t]*(/?)dcf:observations[ \t]*-->")
_LINE_END = re.compile(rb"\r\n|\n")


def with_section(document: bytes, text: str) -> bytes:
    """The document with ``text`` between its markers, or with both behind its end. All else stays
    as it is; lines of the section end as those around it. Raises InvalidEntry with all that is
    wrong with the markers, each with its line."""
    refuse("the section", _problems(document))
    found = list(_MARKER.finditer(document))
    end = _line_end(document, found[0].end() if found else 0)
    body = end.join(line.encode() for line in ["", *text.split("\n"), ""])
    if found:
        return document[: found[0].end()] + body + document[found[1].start() :]
    before = document
    if before and not before.endswith(b"\n"):
        before += end
    if before and not before.endswith(end * 2):
        before += end
    return before + OPEN.encode() + body + CLOSE.encode() + end


def _line_end(document: bytes, at: int) -> bytes:
    """How the line at ``at`` ends, or, if it is the last one, the first."""
    found = _LINE_END.search(document, at) or _LINE_END.search(document)
    return b"\n" if found is None else found[0]


def _problems(document: bytes) -> Iterator[Problem]:
    try:
        document.decode()
    except UnicodeDecodeError as error:
        yield _problem("this line is not in UTF-8", document, error.start, "write it in UTF-8")
        return
    if b"\0" in document:
        hint = "write it in UTF-8"
        yield _problem("there is a NUL in this line", document, document.index(b"\0"), hint)
        return
    found = list(_MARKER.finditer(document))
    opens = [one.start() for one in found if not one[1]]
    closes = [one.start() for one in found if one[1]]
    hint = f"leave one {OPEN} and, behind it, one {CLOSE}, or none of both"
    for message, at in sorted(_mistakes(opens, closes), key=lambda it: it[1]):
        yield _problem(message, document, at, hint)


def _mistakes(opens: Sequence[int], closes: Sequence[int]) -> Iterator[tuple[str, int]]:
    """What is wrong with markers at these places, and where."""
    if opens and not closes:
        yield f"nothing ends the section that {OPEN} begins: there is no {CLOSE}", opens[0]
    if closes and not opens:
        yield f"nothing begins the section that {CLOSE} ends: there is no {OPEN}", closes[0]
    if opens and closes and closes[0] < opens[0]:
        yield f"{CLOSE} stands before {OPEN}", closes[0]
    yield from ((f"this is a second {OPEN}", at) for at in opens[1:])
    yield from ((f"this is a second {CLOSE}", at) for at in closes[1:])


def _problem(message: str, document: bytes, at: int, hint: str) -> Problem:
    line = document.count(b"\n", 0, at) + 1
    return Problem("memory_section", message, hint=hint, line=line)
