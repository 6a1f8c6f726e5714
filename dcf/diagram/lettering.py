"""How wide a text is, and where it breaks.

No font is read: the widths are those of wide sans-serif faces, so that text in a narrower one fits
too. Units are those of the font size given (pixels).
"""

from __future__ import annotations

import re
import unicodedata

_NARROW = dict.fromkeys("iIjl'|", 0.30) | dict.fromkeys('ftr()[]{}!:;,.-"/\\ \u00a0', 0.40)
_WIDE = dict.fromkeys("mMwW@%", 0.92) | dict.fromkeys("+=<>≤≥×_~#", 0.82)
_ADVANCE = _NARROW | _WIDE
_UPPER, _LOWER, _FULL = 0.70, 0.62, 1.0
_BOLD = 1.1
_LONGEST = 2000
# A text breaks after blanks, a long word also after signs and before capitals.
_WORDS = re.compile(r"(?<= )")
_PARTS = re.compile(r"(?<=[\-_./:,])|(?<=[a-z0-9])(?=[A-Z])")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """``text`` on one line, without what XML forbids or what turns the reading direction."""
    return _UNPRINTABLE.sub("\ufffd", _TURNING.sub("", re.sub(r"[^\S\u00a0]", " ", text)))


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """How wide ``text`` is at font size ``size``, rather too much than too little."""
    total = sum(_ADVANCE.get(character) or _other(character) for character in text)
    return total * size * (_BOLD if bold else 1)


def wrap(text: str, size: float, most: float, lines: int, *, bold: bool = False) -> list[str]:
    """``text`` in at most ``lines`` lines of at most ``most`` width; what is left over becomes an
    ellipsis."""
    found: list[str] = []
    rest = [
        part
        for word in _WORDS.split(clean(text)[:_LONGEST])
        for part in ([word] if width_of(word, size, bold=bold) <= most else _PARTS.split(word))
        if part
    ]
    while rest and len(found) < lines:
        line = rest.pop(0).lstrip()
        while rest and width_of((line + rest[0]).rstrip(), size, bold=bold) <= most:
            line += rest.pop(0)
        if width_of(line.rstrip(), size, bold=bold) > most:
            kept = _fitting(line, size, most, bold)
            rest.insert(0, line[len(kept) :])
            line = kept
        found.append(line.strip())
    if any(piece.strip() for piece in rest) and found:
        found[-1] = _shortened(found[-1], size, most, bold)
    return [line for line in found if line] or [""]


def _fitting(text: str, size: float, most: float, bold: bool) -> str:
    """As much of the start of ``text`` as fits; at least one character."""
    total, factor = 0.0, size * (_BOLD if bold else 1)
    for at, character in enumerate(text):
        total += (_ADVANCE.get(character) or _other(character)) * factor
        if total > most:
            return text[: max(at, 1)]
    return text


def _shortened(line: str, size: float, most: float, bold: bool) -> str:
    while len(line) > 1 and width_of(f"{line}…", size, bold=bold) > most:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _other(character: str) -> float:
    if character.isascii():
        return _UPPER if character.isupper() or character in "&$?" else _LOWER
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return _FULL
    return 0.75
