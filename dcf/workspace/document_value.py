"""Values as agents write them: JSON, or nearly so."""

from __future__ import annotations

import ast
import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from control_plane import JSON
from dcf.workspace.errors import BadValue, TooLarge

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
# A Python literal is read by a compiler: generous for what a model writes by hand, no more.
_MAX_LITERAL: Final = 64 * 1024

_FENCED = re.compile(r"\A\s*```[A-Za-z0-9_+-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*\Z", re.DOTALL)
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value that was read; ``as_text`` says that it was no JSON and stands for itself."""

    value: JSON
    as_text: bool = False


def read_value(text: JSON, what: str, *, or_text: bool = False) -> ReadValue:
    """The JSON value that ``text`` spells: JSON, or a Python literal, perhaps in a code fence. What
    is no text is taken as it is. With ``or_text`` a text that spells neither stands for itself,
    and an empty one for null (as in the earlier system).

    Raises BadValue (``what`` names it) and TooLarge.

    >>> read_value("{'a': (1, None)}", "value").value
    {'a': [1, None]}
    """
    if not isinstance(text, str):
        return ReadValue(check_value(text, what))
    _check_size(text, what)
    fenced = _FENCED.match(text)
    body = (fenced[1] if fenced else text).strip()
    if or_text and not body:
        return ReadValue(None)
    value = _as_json(body)
    if value is _ABSENT:
        value = _as_literal(body)
    if value is not _ABSENT:
        return ReadValue(check_value(value, what))
    if or_text:
        return ReadValue(check_value(text, what), as_text=True)
    raise BadValue(what=what, rule="it is neither JSON nor a Python literal")


def read_number(text: JSON, what: str) -> int | float:
    """The finite number that ``text`` spells; integers stay integers. Raises BadValue, TooLarge.

    >>> read_number("2", "delta"), read_number("2.0", "delta")
    (2, 2.0)
    """
    value = read_value(text, what).value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(what=what, rule="it is no number")
    return value


def check_value(value: JSON, what: str) -> JSON:
    """``value`` as plain JSON: tuples become lists. Raises BadValue for what JSON cannot say, for
    what is nested deeper than 64 levels and for text with half of a surrogate pair."""
    try:
        return _plain(value, what, 0)
    except UnicodeEncodeError as error:
        raise BadValue(what=what, rule="a text in it has half of a surrogate pair") from error


def _check_size(text: str, what: str) -> None:
    size = len(text) if text.isascii() else len(text.encode(errors="replace"))
    if size > MAX_BYTES:
        raise TooLarge(what=what, size=size, limit=MAX_BYTES)


def _as_json(text: str) -> JSON:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _ABSENT


def _as_literal(text: str) -> JSON:
    """A Python literal, or ABSENT. ``literal_eval`` evaluates no names and no calls."""
    if len(text) > _MAX_LITERAL:
        return _ABSENT
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _ABSENT


def _plain(value: Any, what: str, depth: int) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        value.encode()
        return value
    if isinstance(value, int):
        # Longer ones cannot be written as text (Python's own limit) nor meant.
        if value.bit_length() > 1024:
            raise BadValue(what=what, rule="an integer in it has more than 1024 bits")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadValue(what=what, rule=f"{value} is no JSON number")
        return value
    if depth >= MAX_DEPTH:
        raise BadValue(what=what, rule=f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list | tuple):
        return [_plain(item, what, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_name(key, what): _plain(item, what, depth + 1) for key, item in value.items()}
    raise BadValue(what=what, rule=f"a {type(value).__name__} is no JSON value")


def _name(key: Any, what: str) -> str:
    if not isinstance(key, str):
        raise BadValue(what=what, rule=f"the member name {key!r} is no text")
    key.encode()
    return key
