"""Texts cut to a length."""

from __future__ import annotations


def shortened(text: str, most: int) -> str:
    """``text`` in at most ``most`` characters, cut between words where it can be."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    words = cut.rsplit(None, 1)[0] if any(map(str.isspace, cut)) else cut
    return f"{(words if len(words) > most // 2 else cut).rstrip()}…"
