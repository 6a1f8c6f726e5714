"""The time that a query names: a day, a month, a year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# The one that says most first.
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_YEAR}-(?P<number>\d\d)(?:-(?P<day>\d\d))?\b",
        rf"\b{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?\b",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?\b",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?:in|of|during|since|until|by|before|after|last|this|next|early|mid|late)[\s-]+{_MONTH}\b",
        rf"\b(?:in|of|during|since|until|by|before|after)\s+{_YEAR}\b",
    )
)


@dataclass(frozen=True, slots=True)
class Period:
    """``month`` without ``year`` is that month of any year, and so is ``day``. In UTC."""

    year: int | None
    month: int | None
    day: int | None

    def holds(self, at: int) -> bool:
        """Whether a time in ms is in it."""
        then = datetime.fromtimestamp(at / 1000, UTC)
        pairs = ((self.year, then.year), (self.month, then.month), (self.day, then.day))
        return all(asked in (None, having) for asked, having in pairs)


def period_of(query: str) -> Period | None:
    """The first day, month or year that ``query`` names in English or as digits (2024-05-03).

    >>> period_of("What did she say on May 3rd, 2024?")
    Period(year=2024, month=5, day=3)
    >>> period_of("May I ask something?")
    """
    for form in _FORMS:
        for found in form.finditer(query):
            parts = found.groupdict()
            month = _month(parts.get("month") or "", parts.get("number"))
            if month is not None or not (parts.get("month") or parts.get("number")):
                return Period(_number(parts.get("year")), month, _number(parts.get("day")))
    return None


def _month(name: str, number: str | None) -> int | None:
    if number is not None:
        return int(number) if 1 <= int(number) <= len(_MONTHS) else None
    small = name.lower()
    exact = [at for at, month in enumerate(_MONTHS, 1) if small in (month, month[:3])]
    return exact[0] if exact else 9 if small == "sept" else None


def _number(text: str | None) -> int | None:
    return int(text) if text else None
