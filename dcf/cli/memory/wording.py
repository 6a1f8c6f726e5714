"""Sizes, times and short texts, for people."""

from __future__ import annotations

from datetime import UTC, datetime

_BAR = 10
_UNITS = ("bytes", "KB", "MB", "GB")
_STEP = 1000


def moment(ms: int) -> str:
    """As in ``2026-11-22 18:15:50`` of this machine's time zone."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"


def stamp(ms: int) -> str:
    """A moment as a part of a file's name."""
    return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y%m%d-%H%M%S}"


def size_text(size: int) -> str:
    """As in ``512 bytes`` or ``1.4 MB``."""
    if size < _STEP:
        return f"{size} bytes"
    number, unit = float(size), 0
    while number >= _STEP and unit < len(_UNITS) - 1:
        number, unit = number / _STEP, unit + 1
    return f"{number:.1f} {_UNITS[unit]}"


def fill_bar(size: int, limit: int | None) -> str:
    """How full a block is: ``█████░░░░░  52 %  2,080 of 4,000 bytes``."""
    if not limit:
        return f"{'':{_BAR}}       {size:,} bytes"
    full = min(_BAR, -(-size * _BAR // limit))
    bar = "█" * full + "░" * (_BAR - full)
    return f"{bar} {size * 100 // limit:>3} %  {size:,} of {limit:,} bytes"


def one_line(text: str, most: int = 160) -> str:
    """``text`` in one line, no longer than ``most`` characters."""
    flat = " ".join(text[: 4 * most].split())
    return flat if len(flat) <= most and len(text) <= 4 * most else f"{flat[: most - 1]}…"
