"""Runs of signs of which credentials are made: without blanks, quotes and brackets.

Most texts have few long ones. They are found among the kinds of signs, one octet each, which takes
a small part of what reading the text with an expression takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# A question mark ends a run: it also stands for all that is not ASCII.
_BREAKS = "\"'`<>()[]{},;?"
_KINDS = bytes(
    ord("a") if 33 <= code < 127 and chr(code) not in _BREAKS else 32 for code in range(256)
)

SHORTEST = 14
"""Signs of the shortest credential that is whole."""


def kinds_of(text: str) -> bytes:
    """``text`` with an ``a`` for each sign that may stand in a credential, else a blank."""
    return text.encode("ascii", "replace").translate(_KINDS)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of a text that have at least ``SHORTEST`` signs, in their order, and the ``kinds``
    of all its signs: found once for all that look for them."""

    kinds: bytes
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: str) -> Runs:
        """The runs of ``text``."""
        kinds = kinds_of(text)
        return cls(kinds, tuple(_spans(kinds)))

    def of_least(self, least: int) -> Iterator[tuple[int, int]]:
        """Those of at least so many signs, which are ``SHORTEST`` or more."""
        return (one for one in self.spans if one[1] - one[0] >= least)


def _spans(kinds: bytes) -> Iterator[tuple[int, int]]:
    run = b"a" * SHORTEST
    start = kinds.find(run)
    while start >= 0:
        end = kinds.find(b" ", start + SHORTEST)
        end = len(kinds) if end < 0 else end
        yield start, end
        start = kinds.find(run, end)
