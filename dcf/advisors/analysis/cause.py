"""Causes of failures, without what is different each time."""

from __future__ import annotations

import re

_LONGEST = 160
_READ = 1_000
"""Characters of a cause: some of the expressions take the square of the longest word."""

_CHANGING = (
    (re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>)\]}]+", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.]+\b"), "<address>"),
    (
        re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I),
        "<id>",
    ),
    (
        re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
        "<time>",
    ),
    # Long hexadecimal words, and words of letters with digits in them, as ids have them.
    (re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b(?=\w*\d)(?=\w*[a-z])[\w-]{6,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"(?<![\w<])[-+]?\d+(?:[.,:]\d+)*(?=[a-z%]{0,3}\b|\W|$)", re.IGNORECASE), "<n>"),
)


def pattern_of(cause: str) -> str:
    """``cause`` with ids, numbers, times and addresses replaced by what they are, in one line and
    cut: what is left is the same for the same kind of failure."""
    text = " ".join(cause[:_READ].split())
    for changing, name in _CHANGING:
        text = changing.sub(name, text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
