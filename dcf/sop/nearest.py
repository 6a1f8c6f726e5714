"""What somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 200
"""Words that are compared; in a longer list, looking for each mistake would take seconds."""


def nearest(word: str, words: Iterable[str], likeness: float = 0.6) -> str | None:
    """The one of ``words`` that is most like ``word``, if one is at all."""
    known = sorted(set(words))
    near = get_close_matches(word, known, n=1, cutoff=likeness) if len(known) <= _MOST else []
    return near[0] if near else None
