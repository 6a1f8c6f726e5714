"""A time as a person says it: "yesterday", "last week", "2026-11", "3 days ago"."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

TIME_EXAMPLES = (
    "yesterday, last week, this month, 3 days ago, 2026-11, 2026-11-27 or 2026-11-27T18:30"
)
_NAMED = re.compile(r"(?P<which>this|last) (?P<unit>week|month|year)")
_AGO = re.compile(r"(?P<number>\d{1,4}) (?P<unit>day|week|month|year)s? ago")
_WRITTEN = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?)?")
_MONTHS = 12


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """``first`` and ``last`` in ms since the epoch, both included."""

    first: int
    last: int


def span_of(text: str, now: int, zone: tzinfo | None = None) -> TimeSpan | None:
    """What ``text`` means, said at ``now`` (ms) in ``zone`` (None: that of this machine); None if
    nothing.

    Weeks begin on Monday; "3 weeks ago" is the week that was then.
    """
    said = " ".join(text.lower().split())
    today = datetime.fromtimestamp(now / 1000, zone).date()
    try:
        return _spoken(said, today, zone) or _written(said, zone) or _moment(text.strip(), zone)
    except (ValueError, OverflowError):
        return None


def _spoken(said: str, today: date, zone: tzinfo | None) -> TimeSpan | None:
    if said in ("today", "yesterday"):
        return _span("day", today - timedelta(days=said == "yesterday"), 0, zone)
    if found := _NAMED.fullmatch(said):
        return _span(found["unit"], today, int(found["which"] == "last"), zone)
    if found := _AGO.fullmatch(said):
        return _span(found["unit"], today, int(found["number"]), zone)
    return None


def _written(said: str, zone: tzinfo | None) -> TimeSpan | None:
    found = _WRITTEN.fullmatch(said)
    if found is None:
        return None
    unit = "day" if found["day"] else "month" if found["month"] else "year"
    at = date(int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    return _span(unit, at, 0, zone)


def _moment(text: str, zone: tzinfo | None) -> TimeSpan:
    """A moment; a day, where ISO 8601 writes one in another way, as in 2026-W48-5."""
    with suppress(ValueError):
        return _span("day", date.fromisoformat(text), 0, zone)
    at = datetime.fromisoformat(text)
    moment = _ms(at, zone)
    return TimeSpan(moment, moment)


def _span(unit: str, at: date, ago: int, zone: tzinfo | None) -> TimeSpan:
    """The day, week, month or year that holds ``at``, or the one so many before."""
    if unit in ("day", "week"):
        days = 7 if unit == "week" else 1
        first = at - timedelta(days=ago * days + (at.weekday() if unit == "week" else 0))
        end = first + timedelta(days=days)
    else:
        months = 1 if unit == "month" else _MONTHS
        begin = at.year * _MONTHS + (at.month - 1 if unit == "month" else 0) - ago * months
        first, end = _month(begin), _month(begin + months)
    return TimeSpan(_ms(first, zone), _ms(end, zone) - 1)


def _month(number: int) -> date:
    return date(number // _MONTHS, number % _MONTHS + 1, 1)


def _ms(local: date, zone: tzinfo | None) -> int:
    at = local if isinstance(local, datetime) else datetime.combine(local, time.min)
    if at.tzinfo is None:
        at = at.astimezone() if zone is None else at.replace(tzinfo=zone)
    return round(at.timestamp() * 1000)
