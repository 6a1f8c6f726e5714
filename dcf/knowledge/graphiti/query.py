"""Words as Graphiti's search takes them."""

from __future__ import annotations

MOST_WORDS = 60
"""Graphiti searches for no words at all where there are 64 or more of them."""


def searchable(text: str) -> str:
    """The first words of ``text`` that have a letter or a digit: a lone underscore is a syntax
    error to the server. "" where there are none."""
    words = [word for word in text.replace("\x00", " ").split() if any(map(str.isalnum, word))]
    # Signs within a word part it later on, so that one word here may be several there.
    kept: list[str] = []
    count = 0
    for word in words:
        count += max(1, sum(1 for _ in filter(None, _parts(word))))
        if count > MOST_WORDS:
            break
        kept.append(" ".join(part for part in _parts(word) if part.strip("_")))
    return " ".join(kept)


def _parts(word: str) -> list[str]:
    return "".join(sign if sign.isalnum() or sign == "_" else " " for sign in word).split()
