"""A YAML scalar as a JSON value. What YAML reads in surprising ways is said, not guessed."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

TAG = "tag:yaml.org,2002:"
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """The value, with an objection (error) or a warning when there is one."""

    value: str | int | float | bool | None
    objection: str = ""
    warning: str = ""


def read_scalar(tag: str, text: str) -> Scalar | None:
    """The JSON value of a scalar with resolved ``tag``; None for a tag that JSON has no type for.

    Dates stay text. ``yes``, ``no``, ``on``, ``off`` are booleans as in YAML 1.1, with a warning.
    Numbers are accepted in JSON's notation only, because 0123 (octal), 12:30 (base 60) and 1_000
    seldom mean what YAML makes of them.
    """
    match tag.removeprefix(TAG):
        case "str" | "timestamp" | "value":
            return _text(text)
        case "null":
            return Scalar(None)
        case "bool":
            return _boolean(text)
        case "int" | "float":
            return _number(text)
    return None


def _text(text: str) -> Scalar:
    try:
        # JSON escapes characters beyond U+FFFF as two halves, which YAML leaves apart.
        return Scalar(text.encode("utf-16", "surrogatepass").decode("utf-16"))
    except UnicodeDecodeError:
        return Scalar("", objection="the text holds half of a surrogate pair, which no file can")


def _boolean(text: str) -> Scalar:
    word = text.lower()
    if word not in _TRUE | _FALSE:
        return Scalar(None, objection=f"{text!r} is no boolean")
    value = word in _TRUE
    if word in ("true", "false"):
        return Scalar(value)
    name = "true" if value else "false"
    return Scalar(value, warning=f"{text!r} is read as {name}, not as text")


def _number(text: str) -> Scalar:
    if not _NUMBER.fullmatch(text):
        return Scalar(None, objection=f"{text!r} is no plain decimal number")
    if len(text) > 400:
        return Scalar(None, objection="the number has more than 400 digits")
    if re.fullmatch(r"-?[0-9]+", text):
        return Scalar(int(text))
    value = float(text)
    if not math.isfinite(value):
        return Scalar(None, objection=f"{text!r} is larger than any number can be")
    return Scalar(value)
