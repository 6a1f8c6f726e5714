"""Integers beyond 2**53: the engine counts in doubles, and they come out of it as they went in."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from dcf.asl.payload import JSON, compact

LARGEST_EXACT = 2**63
"""Integers from here on are floating point numbers, as in Step Functions."""

_DOUBLE = 2**53
_DIGITS = bytes(ord("0") if chr(byte).isdecimal() else 0 for byte in range(256))
_MANY_DIGITS = b"0" * 16
_NONE: Mapping[int, int] = {}


def to_doubles(text: str) -> tuple[str, Mapping[int, int]]:
    """JSON text whose integers are doubles, each another one; and what these stand for.

    The order of the numbers stays. A sum of them is one of doubles, as in Step Functions.
    """
    if not _has_many_digits(text):
        return text, _NONE
    large: set[int] = set()

    def collect(digits: str) -> int:
        number = int(digits)
        if abs(number) >= _DOUBLE:
            large.add(number)
        return number

    value = json.loads(text, parse_int=collect)
    if not large:
        return text, _NONE
    doubles: dict[int, float | str] = {}
    meant: dict[int, int] = {}
    last = -math.inf
    for number in sorted(large):
        if not -LARGEST_EXACT <= number < LARGEST_EXACT:
            doubles[number] = _beyond(number)
            continue
        last = doubles[number] = max(float(number), math.nextafter(last, math.inf))
        meant[int(last)] = number
    return compact(_replaced(value, doubles)), meant


def read_result(text: str, meant: Mapping[int, int]) -> JSON:
    """The value of a result; ``meant`` are the integers that doubles stand for."""
    if not _has_many_digits(text):
        return json.loads(text)

    def read(digits: str) -> JSON:
        number = int(digits)
        if abs(number) < _DOUBLE:
            return number
        double = float(number)
        whole = int(double)
        if whole in meant:
            return meant[whole]
        return whole if -LARGEST_EXACT <= whole < LARGEST_EXACT else double

    return json.loads(text, parse_int=read)


def _has_many_digits(text: str) -> bool:
    """Whether there may be a number of 2**53 or more, found soon in a long text."""
    return _MANY_DIGITS in text.encode("utf-8", "replace").translate(_DIGITS)


def _beyond(number: int) -> float | str:
    """No number of JSON is without end: text says so."""
    try:
        return float(number)
    except OverflowError:
        return "Infinity" if number > 0 else "-Infinity"


def _replaced(value: Any, doubles: Mapping[int, float | str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item, doubles) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, doubles) for item in value]
    return doubles.get(value, value) if type(value) is int else value
