"""Words for a time, as ``yesterday``, ``last week``, ``before monday`` or ``since 2026-11-20``.

Words that name a time and are none of these are found too (``unread_time``): an answer for all
time, or for another one, is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

_UNITS: Mapping[str, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
_SHORT: Mapping[str, str] = {"h": "hour", "d": "day", "w": "week"}
_LENGTHS = (
    "take|takes|took|taken|than|over|under|above|below|least|most|last|lasts|lasted|needs|need"
    "|needed|after|every|exceed|exceeded|exceeds|by|of|longer|within"
)
_NO_LENGTH = "".join(rf"(?<!\b{word} )" for word in _LENGTHS.split("|"))
"""After such a word ``2h`` is how long something takes, and no time."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTED = "one two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Mapping[str, int] = {word: at for at, word in enumerate(_COUNTED.split(), 1)}
_NUMBER = rf"\d{{1,4}}|an?|{'|'.join(_NUMBERS)}"
_UNIT = rf"(?:{'|'.join(_UNITS)})s?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_A_UNIT = _UNIT.replace("(?:", "(?P<unit>", 1)
_BEGIN = (
    rf"{_DATE}|today|yesterday|(?:last|this) (?:week|month|year)|(?:last )?(?:{'|'.join(_DAYS)})"
)
_LATER = r"onwards?|on(?=\s*(?:[?.!,]|$))"
_MONTHS = (
    "january|february|march|april|june|july|august|september|october|november|december"
    "|(?:in|since|during|from|of|last|this|before|after|until|till|by) may"
)
_TURNED = re.compile(
    r"\b(?:by|as of|to|than|until|till|before|after|through|thru|like|with|against|vs|versus|about"
    r"|around|every|each|next|early|late|(?:end|beginning|start|middle|half|rest|part) of"
    rf"|{_UNIT}|quarters?|nights?|morning|evening)\.? (?:the )?$"
)
"""Before a time such a word makes another one of it."""
_OF_TIME = re.compile(
    rf"\b(?:(?:\d+|{'|'.join(_NUMBERS)})[ -]?(?:{_UNIT}|seconds?|secs?|mins?|hrs?|[smhd]|am|pm"
    r"|fortnights?|quarters?|decades?)"
    rf"|(?:last|past|previous|this|current|next|coming|same) (?:{_UNIT}|quarter|night|decade)"
    r"|\d{1,2}:\d\d|tomorrow|tonight|ago|until|till|onwards?|weekends?|mornings?|afternoons?"
    rf"|evenings?|nights?|noon|midnight|(?:{'|'.join(_DAYS)})s|{_MONTHS})\b"
)

Span = tuple[datetime, datetime | None]
_EVER = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """What the words ``said`` of a text mean; ``start`` and ``end`` are where they stand in it.
    ``since`` (0: from the beginning) is included, ``until`` (None: up to now) not; both are ms
    since the epoch."""

    said: str
    start: int
    end: int
    since: int
    until: int | None = None


def period_in(text: str, now: datetime) -> Period | None:
    """The first time that ``text`` (lower case) names, None without any. ``now`` has a time zone:
    days begin at its midnight, weeks on Monday."""
    found = [
        (match, read)
        for pattern, read in _PATTERNS
        for match in re.finditer(rf"\b(?:{pattern})\b", text)
    ]
    for match, read in sorted(found, key=lambda one: (one[0].start(), -one[0].end())):
        try:
            since, until = read(match, now)
        except (ValueError, OverflowError):
            continue  # no such day, as the 31st of February
        return Period(
            match[0], match.start(), match.end(), _ms(since), None if until is None else _ms(until)
        )
    return None


def compared_with(text: str, now: datetime) -> tuple[Period, Period] | None:
    """The two periods that ``text`` (lower case) holds against each other, as in ``more this week
    than last week`` or ``since monday compared with the week before``; None without a second one.
    Where the first is not said, it is the one that runs: this week beside last week."""
    match = _BESIDE.search(text)
    if match is None:
        return None
    rest = text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]
    first = period_in(rest, now)
    said = match["before"] or match["previous"]
    if first is None:
        unit = said or match["begin"].rpartition(" ")[2]
        running = {"day": "today", "yesterday": "today"}.get(unit, f"this {unit}")
        first = period_in(running, now)
        if first is None or (said is None and match["begin"] not in (f"last {unit}", "yesterday")):
            return None
        # It stands nowhere in the text.
        first = replace(first, start=match.start(), end=match.start())
    try:
        if said is None:
            since, until = _on(match, now)
        else:
            until = datetime.fromtimestamp(first.since / 1000, now.tzinfo)
            since = _named(f"last {said}", until)[0] if said == "month" else until - _UNITS[said]
    except (ValueError, OverflowError):
        return None
    end = None if until is None else _ms(until)
    name = match["begin"] or f"the {said} before"
    return first, Period(name, match.start(), match.end(), _ms(since), end)


def unread_time(text: str, period: Period | None, now: datetime) -> str:
    """The words of ``text`` (lower case) that name a time and are not read with ``period``, the
    first that it names; "" where there are none."""
    rest = text
    if period is not None:
        if turned := _TURNED.search(text[: period.start]):
            return text[turned.start() : period.end]
        rest = text[: period.start] + " " * (period.end - period.start) + text[period.end :]
        if another := period_in(rest, now):
            return another.said
    found = _OF_TIME.search(rest)
    return found[0] if found else ""


def _ago(match: re.Match[str], now: datetime) -> Span:
    said = match["number"] or "1"
    number = int(said) if said.isdigit() else _NUMBERS.get(said, 1)
    unit = _SHORT.get(match["unit"], match["unit"]).removesuffix("s")
    return now - number * _UNITS[unit], None


def _since(match: re.Match[str], now: datetime) -> Span:
    return _named(match["begin"], now)[0], None


def _on(match: re.Match[str], now: datetime) -> Span:
    since, until = _named(match["begin"], now)
    return since, until if until is None or until <= now else None


def _days_ago(match: re.Match[str], now: datetime) -> Span:
    since, _ = _ago(match, now)
    begin = since.replace(hour=0, minute=0, second=0, microsecond=0)
    return begin, begin + timedelta(days=1)


def _before(match: re.Match[str], now: datetime) -> Span:
    return _EVER, min(_named(match["begin"], now)[0], now)


def _after(match: re.Match[str], now: datetime) -> Span:
    end = _named(match["begin"], now)[1]
    if end is None:
        raise ValueError(f"{match[0]!r} has not begun")
    return end, None


def _between(match: re.Match[str], now: datetime) -> Span:
    """From the beginning of the first to the end of the last."""
    since = _named(match["begin"] or match["from"], now)[0]
    until = now if match["last"] == "now" else _named(match["last"], now)[1]
    if until is not None and until <= since:
        raise ValueError(f"{match[0]!r} ends before it begins")
    return since, until if until is None or until < now else None


def _beside() -> re.Pattern[str]:
    links = (
        r"(?:as )?compared (?:to|with)|in comparison (?:to|with)|in contrast to|relative to"
        r"|versus|vs\.?|against|than|as opposed to"
    )
    fill = r"(?:(?:in|of|on|to|for|with|during|it|was|were|did|had|we|the|those|that|one) )*"
    units = "day|week|month"
    other = (
        rf"(?:previous|preceding|prior) (?P<previous>{units})|(?P<before>{units}) before(?: that)?"
        rf"|(?P<begin>{_BEGIN})"
    )
    return re.compile(rf"(?:\b|(?<=,)) ?(?:{links}) {fill}(?:{other})\b")


def _named(said: str, now: datetime) -> Span:
    """A day, week, month or year from its beginning to its end."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    day = timedelta(days=1)
    if re.fullmatch(_DATE, said):
        begin = datetime.fromisoformat(said).replace(tzinfo=now.tzinfo)
        return begin, begin + day
    if said in ("today", "yesterday"):
        begin = today if said == "today" else today - day
        return begin, begin + day
    which, _, unit = said.rpartition(" ")
    if unit in _DAYS:
        back = (today.weekday() - _DAYS.index(unit)) % 7
        begin = today - (back or (7 if which else 0)) * day
        return begin, begin + day
    if unit == "week":
        begin = today - today.weekday() * day
        return (begin, begin + 7 * day) if which == "this" else (begin - 7 * day, begin)
    begin = today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)
    if which == "this":
        return begin, None
    before = begin - day
    before = before.replace(day=1) if unit == "month" else before.replace(month=1, day=1)
    return before, begin


def _ms(moment: datetime) -> int:
    return max(0, round(moment.timestamp() * 1000))


_BESIDE = _beside()
_PATTERNS: tuple[tuple[str, Callable[[re.Match[str], datetime], Span]], ...] = (
    (rf"(?:since|from|after) (?P<number>{_NUMBER}) (?P<unit>{_UNIT}) ago(?: on)?", _ago),
    (rf"(?:(?:in|over|within|for|during) )?(?:the )?(?:last|past) (?P<number>{_NUMBER}) "
     rf"(?P<unit>{_UNIT})", _ago),
    (rf"(?:in|over|within|during) the (?:last|past) (?P<number>){_A_UNIT}", _ago),
    (rf"{_NO_LENGTH}(?:(?:(?:in|over|within|for|during) )?(?:the )?(?:last|past) )?"
     r"(?P<number>\d{1,4}) ?"
     r"(?P<unit>[hdw])(?! (?:ago|old|or|long))", _ago),
    (rf"(?:within|in) (?P<number>{_NUMBER}) (?P<unit>{_UNIT})", _ago),
    (rf"(?P<number>{_NUMBER}) (?P<unit>days?) ago", _days_ago),
    (rf"(?:between (?P<begin>{_BEGIN}) and|(?:from|since) (?P<from>{_BEGIN}) "
     rf"(?:to|until|till|through)) (?P<last>{_BEGIN}|now)", _between),
    (rf"before (?P<begin>{_BEGIN})(?!')", _before),
    (rf"after (?P<begin>{_BEGIN})(?!')", _after),
    (rf"(?:ever )?since (?P<begin>{_BEGIN})(?: (?:{_LATER}))?", _since),
    (rf"from (?P<begin>{_BEGIN}) (?:{_LATER})", _since),
    (rf"(?:(?:on|in|during|from) )?(?P<begin>{_BEGIN})(?:'s)?", _on),
)  # fmt: skip
