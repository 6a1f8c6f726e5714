"""Sentences in bold or italics, or behind a box to tick."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import masked

_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|_{1,3})(?P<inside>(?![\s*_]).+?)(?P=mark)(?P<end>[.;]?)")
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")


def without_emphasis(text: str) -> str:
    """``text`` without a box to tick, and without the marks of bold and italics around it."""
    box = _CHECKBOX.match(text)
    text = _without_bold(text[box.end() :] if box else text).strip()
    around = _EMPHASIS.fullmatch(text)
    return f"{around['inside']}{around['end']}" if around else text


def _without_bold(text: str) -> str:
    hidden = masked(text)
    stars = [at for at in range(len(text) - 1) if hidden[at : at + 2] == "**"]
    for at in reversed(stars):
        text = text[:at] + text[at + 2 :]
    return text
