"""Regular expressions that backtrack without end, found by trying them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcf.schema import PatternTooSlow, search

_REPEATS = 60
_LETTERS = 12
_BEGINNING = re.compile(r"\^?(?P<text>[A-Za-z0-9 _:/-]*)(?![*+?{])")


def is_slow(pattern: str) -> bool:
    """Whether a search for ``pattern`` in some text of a few dozen characters takes too long."""
    try:
        for text in _probes(pattern):
            search(pattern, text)
    except PatternTooSlow:
        return True
    return False


def _probes(pattern: str) -> Iterator[str]:
    """One character over and over, after what the pattern begins with, and then a wrong end."""
    begins = _BEGINNING.match(pattern)
    start = begins["text"] if begins else ""
    letters = dict.fromkeys(re.findall(r"(?<!\\)[A-Za-z0-9]", pattern))
    for letter in dict.fromkeys([*list(letters)[:_LETTERS], "a", "0", " ", "-"]):
        yield f"{start}{letter * _REPEATS}\x00"
