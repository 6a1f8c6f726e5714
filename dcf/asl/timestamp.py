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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_timestamp(text: object) -> float | None:
    """Epoch seconds of ``2016-03-14T01:59:00Z``; None when ``text`` is no such timestamp.

    A float does not hold the nanoseconds: whoever compares takes ``parse_instant``.
    """
    instant = parse_instant(text)
    return None if instant is None else instant / 1_000_000_000


def parse_second(text: object) -> float | None:
    """As ``parse_timestamp``, without the fraction, of which a Wait takes no notice."""
    instant = parse_instant(text)
    return None if instant is None else float(instant // 1_000_000_000)


def parse_instant(text: object) -> int | None:
    """Epoch nanoseconds of a timestamp, exactly; None when ``text`` is none."""
    found = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.group(1, 2, 3, 4, 5, 6))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=_offset(found))
    except (ValueError, OverflowError):
        return None
    since = moment - _EPOCH
    nanoseconds = int((found.group(7) or "").ljust(9, "0"))
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + nanoseconds


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
