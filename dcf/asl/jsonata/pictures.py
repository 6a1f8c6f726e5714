"""Functions of JSONata that write or read by a picture, such as ``[Y0001]`` or ``#,##0.00``.

The library makes regular expressions of pictures, letter by letter as an author wrote them. Here
these are made of the letters themselves, they end with the budget of the evaluation, and a date
without a year takes it from the moment of the state, not from a clock.
"""

from __future__ import annotations

import datetime as dates
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import regex

from dcf.asl.jsonata.library import Functions, JException, Jsonata, datetimeutils
from dcf.asl.jsonata.native import NativeFunction
from dcf.asl.jsonata.regular import BoundedPattern

MAX_PICTURE = 1000
"""Longest picture in characters; the time to read one grows with its square."""

MAX_WIDTH = 100
"""Most characters that a part of a date may ask for, as in ``[Y,4-100]``."""

_DATE_PART = re.compile(r"\[([^\]]*)\]?")
_SINGLE = ("decimal-separator", "grouping-separator", "exponent-separator")
"""Options of ``$formatNumber`` that are one character."""


class _Moment(dates.datetime):
    @classmethod
    def utcnow(cls) -> _Moment:
        moment_s = Jsonata.CURRENT.jsonata.timestamp / 1000
        return cls.fromtimestamp(moment_s, dates.UTC).replace(tzinfo=None)


def _bounded(pattern: str, flags: int = 0) -> BoundedPattern:
    return BoundedPattern(regex.compile(pattern, flags))


def _literal(_pattern: Any, _replacement: str, text: str) -> str:
    """The library's only substitution: to escape what stands between the parts of a picture."""
    return re.escape(text)


datetimeutils.re = SimpleNamespace(
    IGNORECASE=regex.IGNORECASE, compile=_bounded, split=re.split, sub=_literal
)
datetimeutils.datetime = SimpleNamespace(
    datetime=_Moment, timedelta=dates.timedelta, timezone=dates.timezone
)


def _checked(apply: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    """``apply``, whose second argument is a picture that passes ``check``."""

    def call(value: Any, picture: Any, *more: Any) -> Any:
        check(picture)
        return apply(value, picture, *more)

    return call


def _check(picture: Any) -> None:
    if picture is not None and len(picture) > MAX_PICTURE:
        raise JException("D3137", -1, f"A picture has at most {MAX_PICTURE} characters")


def _check_date(picture: Any) -> None:
    """As ``_check``; the parts of a date may have a width, and are padded to it."""
    _check(picture)
    for part in _DATE_PART.findall(picture or ""):
        width = part.rpartition(",")[2] if "," in part else ""
        if any(int(digits) > MAX_WIDTH for digits in re.findall(r"\d+", "".join(width.split()))):
            raise JException("D3137", -1, f"A part of a picture is at most {MAX_WIDTH} wide")


def _now(picture: Any, timezone: Any) -> Any:
    _check_date(picture)
    return Functions.now(picture, timezone)


def _format_number(value: Any, picture: Any, options: Any) -> Any:
    if value is None:
        return None
    _check(picture)
    for name in _SINGLE:
        given = (options or {}).get(name, ".")
        if not isinstance(given, str) or len(given) != 1:
            raise JException("D3137", -1, f"The option {name} must be one character")
    return Functions.format_number(value, picture, options)


PICTURE_FUNCTIONS = (
    NativeFunction("formatNumber", "<n-so?:s>", _format_number),
    NativeFunction("formatInteger", "<n-s:s>", _checked(Functions.format_integer, _check)),
    NativeFunction("parseInteger", "<s-s:n>", _checked(Functions.parse_integer, _check)),
    NativeFunction("toMillis", "<s-s?:n>", _checked(Functions.datetime_to_millis, _check_date)),
    NativeFunction(
        "fromMillis", "<n-s?s?:s>", _checked(Functions.datetime_from_millis, _check_date)
    ),
    NativeFunction("now", "<s?s?:s>", _now),
)
