"""Runs of signs of which credentials are made: without blanks, quotes and brackets.

Most texts have few long ones. They are found among the kinds of signs, one octet each, which takes
a small part of what reading the text with an expression takes.
"""

from __future__ import annotations

from collections.abc import Iterator

# A question mark ends a run: it also stands for all that is not ASCII.
_BREAKS = "\"'`<>()[]{},;?"
_KINDS = bytes(
    ord("a") if 33 <= code < 127 and chr(code) not in _BREAKS else 32 for code in range(256)
)


def kinds_of(text: str) -> bytes:
    """``text`` with an ``a`` for each sign that may stand in a credential, else a blank."""
    return text.encode("ascii", "replace").translate(_KINDS)


def runs(kinds: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Where runs of at least so many signs begin and end."""
    run = b"a" * least
    start = kinds.find(run)
    while start >= 0:
        end = kinds.find(b" ", start + least)
        end = len(kinds) if end < 0 else end
        yield start, end
        start = kinds.find(run, end)
