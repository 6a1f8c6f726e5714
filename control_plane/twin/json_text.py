"""JSON text as RedisJSON reads and prints it.

It differs from Python's ``json`` where documents would not come back the same: integers beyond 64
bits become floats, floats print with the fewest digits and without padded exponents, lone
surrogates and too deep or too large values are refused, and text after the first value is ignored.
"""

from __future__ import annotations

import json
import re
from typing import Any

from control_plane.errors import ServerError
from control_plane.twin.json_float import read_float
from control_plane.twin.numbers import I64_MIN, U64_MAX

DEPTH_LIMIT = 127
"""How deep arrays and objects may nest."""

_BLANKS = re.compile(r"[ \t\n\r]*")
# Numbers for which Python's own parser would give another value than the server's.
_DELICATE = re.compile(r"-0(?![.0-9eE])|[0-9.]{16}|[0-9][eE][+-]?[0-9]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_PADDED_EXPONENT = re.compile(r"[0-9]e[+-][0-9]")


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _integer(text: str) -> int | float:
    number = int(text)
    if text == "-0" or not I64_MIN <= number <= U64_MAX:
        return read_float(text)
    return number


_quick = json.JSONDecoder(parse_constant=_constant)
_careful = json.JSONDecoder(parse_constant=_constant, parse_float=read_float, parse_int=_integer)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_encode_text = json.encoder.encode_basestring


def parse(text: str) -> Any:
    """The first JSON value in ``text``. Raises ServerError."""
    start = _BLANKS.match(text).end()  # type: ignore[union-attr]  # matches the empty string too
    decoder = _careful if _DELICATE.search(text) else _quick
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _refused(text, "expected value", error.pos) from error
    except OverflowError as error:
        raise _refused(text, str(error), len(text)) from error
    except RecursionError as error:
        raise _refused(text, "recursion limit exceeded", len(text)) from error
    except ValueError as error:
        raise _refused(text, "expected value", start) from error
    if type(value) in (int, float) and _is_number_cut_short(text[start:end], text[end : end + 1]):
        raise _refused(text, "invalid number", end)
    if text.count("[") + text.count("{") > DEPTH_LIMIT and not _within(value, DEPTH_LIMIT):
        raise _refused(text, "recursion limit exceeded", DEPTH_LIMIT)
    if _SURROGATE.search(text):
        _check_surrogates(text, value)
    return value


def _refused(text: str, reason: str, position: int) -> ServerError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return ServerError(f"{reason} at line {line} column {column}")


def _is_number_cut_short(number: str, following: str) -> bool:
    """Whether Python stopped where the server would have read on, and failed: ``01``, ``1.``."""
    if following in ("e", "E"):
        return "e" not in number.lower()
    if following == ".":
        return not any(mark in number for mark in ".eE")
    return following.isdigit()


def _within(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    if levels == 0:
        return False
    items = value.values() if isinstance(value, dict) else value
    return all(_within(item, levels - 1) for item in items)


def _check_surrogates(text: str, value: Any) -> None:
    try:
        _encode(value).encode()
    except UnicodeEncodeError as error:
        raise _refused(text, "lone leading surrogate in hex escape", len(text)) from error


def dump(value: Any) -> str:
    """``value`` as compact JSON text, non-ASCII unescaped."""
    text = _encode(value)
    # Python pads exponents (1e-07); the pattern may also stand in a string, which does no harm.
    return _dump_by_hand(value) if _PADDED_EXPONENT.search(text) else text


def _dump_by_hand(value: Any) -> str:
    if isinstance(value, float):
        return print_float(value)
    if isinstance(value, dict):
        members = (f"{_encode_text(key)}:{_dump_by_hand(item)}" for key, item in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_dump_by_hand, value)) + "]"
    return _encode(value)


def print_float(number: float) -> str:
    """The shortest text that reads back as ``number``: ``1.0``, ``0.00001``, ``1e16``, ``1e-7``."""
    mantissa, _, exponent = repr(number).partition("e")
    if not exponent:
        return mantissa
    if exponent == "-05":
        # One decade more than Python prints in plain notation.
        sign = "-" if number < 0 else ""
        return f"{sign}0.0000{mantissa.lstrip('-').replace('.', '')}"
    return f"{mantissa}e{int(exponent)}"
