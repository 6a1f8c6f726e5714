"""The nearest of the names there are, for messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MOST = 500


def similar(word: str, names: Iterable[str]) -> str:
    """``; nearest: …``, or nothing when no name is like ``word``."""
    known = sorted(set(names))[:_MOST]
    near = get_close_matches(word, known, n=3, cutoff=0.5)
    return f"; nearest: {', '.join(near)}" if near else ""
