"""Citations found in any text: prose, Markdown, JSON, logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dcf.citation.citation import LONGEST, Citation
from dcf.citation.errors import InvalidCitation
from dcf.citation.form import SCHEME
from dcf.citation.reading import parse_citation

# With a letter or digit before it, it is the end of another scheme.
_START = re.compile(rf"(?<![A-Za-z0-9]){SCHEME}")
_RUN = re.compile(rf"{_START.pattern}[^\s<>\"`]*")
_PUNCTUATION = frozenset(".,;:!?'")
_OPENING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class FoundCitation:
    """``citation`` stands in a text from the character ``start`` up to, but not with, ``end``."""

    start: int
    end: int
    citation: Citation


def find_citations(text: str) -> tuple[FoundCitation, ...]:
    """The citations in ``text``, in its order.

    One ends before whitespace, ``<>"``, a backtick or the next one; punctuation behind it, and a
    closing bracket that was not opened in it, are the text's: so is a full stop with which an id
    ends. What is not written as a citation must be is none, and no part of it is one: that could
    cite something else. The time it takes grows with the length of the text, whatever that is.
    """
    return tuple(found for place in _places(text) if (found := _at(text, *place)) is not None)


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where citations may stand: no two of these overlap."""
    for run in _RUN.finditer(text):
        starts = [match.start() for match in _START.finditer(text, *run.span())]
        yield from zip(starts, [*starts[1:], run.end()], strict=True)


def _at(text: str, start: int, end: int) -> FoundCitation | None:
    end = _trimmed(text, start, end)
    if end - start > LONGEST:
        return None
    try:
        return FoundCitation(start, end, parse_citation(text[start:end]))
    except InvalidCitation:
        return None


def _trimmed(text: str, start: int, end: int) -> int:
    """The end without what the surrounding text puts behind a citation."""
    unopened = {
        closing: text.count(closing, start, end) - text.count(opening, start, end)
        for closing, opening in _OPENING.items()
    }
    # Counted once and by index: cutting the text at each would read it again and again.
    while end > start:
        last = text[end - 1]
        if unopened.get(last, 0) > 0:
            unopened[last] -= 1
        elif last not in _PUNCTUATION:
            break
        end -= 1
    return end
