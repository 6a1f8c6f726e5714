"""Numbers as Redis reads and writes them."""

from __future__ import annotations

import re
from decimal import Decimal

from control_plane.errors import ServerError

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
U64_MAX = 2**64 - 1

_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?inf(inity)?", re.I)

NOT_AN_INTEGER = "ERR value is not an integer or out of range"


def parse_integer(text: str, error: str = NOT_AN_INTEGER) -> int:
    """``text`` as a signed 64-bit integer in canonical form (no sign +, blanks, leading zeros).

    Raises ServerError(error).
    """
    if _INTEGER.fullmatch(text) and len(text) <= 20:
        number = int(text)
        if I64_MIN <= number <= I64_MAX:
            return number
    raise ServerError(error)


def parse_float(text: str, error: str = "ERR value is not a valid float") -> float:
    """``text`` as a score; infinities are numbers, NaN is not. Raises ServerError(error)."""
    if _FLOAT.fullmatch(text):
        return float(text)
    raise ServerError(error)


def wrapped(number: int) -> int:
    """``number`` in 64-bit two's complement, as C adds without looking."""
    return (number - I64_MIN) % 2**64 + I64_MIN


def format_float(number: float) -> str:
    """``number`` as a score or a Lua argument: the shortest digits, integers without a point."""
    if number != number:
        return "nan"
    if number in (float("inf"), float("-inf")):
        return "inf" if number > 0 else "-inf"
    if number.is_integer() and I64_MIN < number < 2.0**63:
        return str(int(number))
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)  # finite: only NaN and infinity have letters here
    return ("-" if sign else "") + _laid_out("".join(map(str, digits)), exponent)


def _laid_out(digits: str, exponent: int) -> str:
    """``digits`` times ten to ``exponent``, in the layout of the server's number printer."""
    leading = len(digits) + exponent - 1
    if exponent >= 0 and leading < len(digits) + 7:
        return digits + "0" * exponent
    if exponent < 0 and (exponent > -7 or abs(leading) < 4):
        point = len(digits) + exponent
        if point <= 0:
            return "0." + "0" * -point + digits
        return f"{digits[:point]}.{digits[point:]}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{'-' if leading < 0 else '+'}{abs(leading)}"
