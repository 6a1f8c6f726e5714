"""Instants as the language writes them: RFC 3339 with `T` and an offset or `Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)


LATEST = 253_402_300_799.0
"""The last second of the year 9999 in epoch seconds: none after it can be written."""


def parse_timestamp(text: object) -> float | None:
    """Epoch seconds of ``2016-03-14T01:59:00Z``; None when ``text`` is no such timestamp."""
    found = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.group(1, 2, 3, 4, 5, 6))
    fraction = float(f"0.{found.group(7)}") if found.group(7) else 0.0
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_offset(found))
    except (ValueError, OverflowError):
        return None
    return moment.timestamp() + fraction


def format_timestamp(epoch: float) -> str:
    """``2016-03-14T01:59:00.000Z`` for epoch seconds, in milliseconds."""
    moment = datetime.fromtimestamp(round(epoch * 1000) / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _offset(found: re.Match[str]) -> timezone:
    if found.group(8):
        return UTC
    hours, minutes = int(found.group(10)), int(found.group(11))
    if minutes > 59:
        raise ValueError("minutes of an offset run from 0 to 59")
    sign = -1 if found.group(9) == "-" else 1
    return timezone(sign * timedelta(hours=hours, minutes=minutes))
