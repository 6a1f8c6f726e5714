"""JSON values in running text: defaults, examples, what is allowed."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from dcf.sop.language.phrase import Unreadable

_AFTER = re.compile(r"\s*(?:[,;)]|$|or\b)")
_BARE = re.compile(r"[^,;)\s](?:[^,;)]*[^,;)\s])?")
_HINT = 'write texts in double quotes, and other values as JSON: "DE", 5, true, ["a"], {"a": 1}'


def read_literal(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at ``at``, and where it ends. What is no JSON is a text, up to the next
    comma, semicolon or closing bracket; what is in backticks is read by itself.

    Raises ``Unreadable``.
    """
    if text[at : at + 1] == "`":
        end = text.find("`", at + 1)
        if end < 0:
            raise Unreadable("SOP_VALUE", "a ` has no partner", "close the backticks")
        inner = text[at + 1 : end].strip()
        value, stop = _json(inner, 0)
        return (value if stop == len(inner) else inner), end + 1
    value, stop = _json(text, at)
    if stop and _AFTER.match(text, stop):
        return value, stop
    found = _BARE.match(text, at)
    if found is None or text[at] in '"[{':
        raise Unreadable("SOP_VALUE", f"there is no value in {text[at : at + 40]!r}", _HINT)
    word = re.split(r"\s+or\s+", found[0])[0]
    return word, at + len(word)


def _json(text: str, at: int) -> tuple[Any, int]:
    """Value and end; the end is 0 where no JSON begins."""
    try:
        value, stop = _DECODER.raw_decode(text, at)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return None, 0
    if value is None:
        raise Unreadable("SOP_VALUE", "null is no value here", "leave it out")
    return value, stop


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def print_literal(value: Any) -> str:
    """As JSON on one line, what cannot be printed escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)
