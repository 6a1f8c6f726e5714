"""Durations in words, as whole seconds."""

from __future__ import annotations

import re

from dcf.sop.language.phrase import Unreadable, count_of

_UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_SHORT = {"s": 1, "sec": 1, "secs": 1, "min": 60, "mins": 60, "m": 60, "h": 3_600}
_SHORT |= {"hr": 3_600, "hrs": 3_600, "d": 86_400}
_PART = re.compile(r"(half an|half a|[a-z]+|[0-9]+(?:\.[0-9]+)?)[\s-]*([a-z]+)")
LONGEST = 99_999_999
"""Seconds, a bit over three years: the most that the states language takes."""
_HINT = "write a number and seconds, minutes, hours, days or weeks: 30 seconds, 2 hours, 1 day"


def read_duration(text: str) -> int:
    """Seconds of ``2 hours``, ``1 day and 12 hours``, ``half an hour``, ``90s``.

    Raises ``Unreadable``: for what is none, for fractions of seconds, for months and years, which
    have no fixed length, and for what is longer than ``LONGEST``.
    """
    rest = " ".join(text.lower().split())
    total = 0.0
    while rest:
        found = _PART.match(rest)
        if found is None:
            raise Unreadable("SOP_DURATION", f"{text!r} is no duration", _HINT)
        total += _part(text, found[1], found[2])
        rest = re.sub(r"^(,\s*and\s+|\s*,\s*|\s+and\s+|\s+)", "", rest[found.end() :])
    if total != int(total) or total < 1:
        raise Unreadable(
            "SOP_DURATION", f"{text!r} is no whole number of seconds", "a second is the least"
        )
    if total > LONGEST:
        raise Unreadable(
            "SOP_DURATION", f"{text!r} is longer than three years", "write a shorter time"
        )
    return int(total)


def _part(text: str, number: str, unit: str) -> float:
    count = 0.5 if number.startswith("half") else count_of(number)
    size = _SHORT.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if size is None and unit.removesuffix("s") in ("month", "year", "quarter"):
        message = f"{text!r} has no fixed length"
        raise Unreadable("SOP_DURATION", message, "write days or weeks, as in 30 days")
    if size is None or count is None:
        raise Unreadable("SOP_DURATION", f"{text!r} is no duration", _HINT)
    return count * size


def print_duration(seconds: int) -> str:
    """In the largest unit that leaves no rest.

    >>> [print_duration(seconds) for seconds in (90, 3600, 172800)]
    ['90 seconds', '1 hour', '2 days']
    """
    unit = next(name for name in reversed(_UNITS) if seconds % _UNITS[name] == 0)
    count = seconds // _UNITS[unit]
    return f"{count} {unit}{'' if count == 1 else 's'}"
