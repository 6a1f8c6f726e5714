"""How RedisJSON reads a number with a point or an exponent.

It takes the speedy way (64 bits of digits, then one multiplication or division by a power of ten),
so that numbers with more than about 15 digits may come out one step beside the nearest float.
"""

from __future__ import annotations

import re

from control_plane.twin.numbers import U64_MAX

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_LARGEST_POWER = 308
_POWERS = tuple(float(f"1e{power}") for power in range(_LARGEST_POWER + 1))


def read_float(text: str) -> float:
    """``text``, a JSON number. Raises OverflowError when it is too large."""
    match = _NUMBER.fullmatch(text)
    assert match is not None, f"{text!r} is no JSON number"
    sign, whole, fraction, exponent = match.groups()
    digits, skipped = _accumulate(0, whole)
    significand, ignored = _accumulate(digits, fraction or "")
    power = skipped - (len(fraction or "") - ignored) + int(exponent or 0)
    return _scaled(significand, power) * (-1.0 if sign else 1.0)


def _accumulate(significand: int, digits: str) -> tuple[int, int]:
    """``significand`` continued by ``digits``, and how many of them found no room in 64 bits."""
    for index, digit in enumerate(digits):
        longer = significand * 10 + int(digit)
        if longer > U64_MAX:
            return significand, len(digits) - index
        significand = longer
    return significand, 0


def _scaled(significand: int, power: int) -> float:
    number = float(significand)
    if not number:
        return number
    while power < -_LARGEST_POWER and number:
        number /= _POWERS[_LARGEST_POWER]
        power += _LARGEST_POWER
    if not number:
        return number
    if power < 0:
        return number / _POWERS[-power]
    if power <= _LARGEST_POWER:
        number *= _POWERS[power]
        if number != float("inf"):
            return number
    raise OverflowError("number out of range")
