"""JSON values as this room handles them: compared, measured and never changed in place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

# Whatever ``json.loads`` gives. Checked where it enters, not by the type system.
JSON: TypeAlias = Any

MAX_DEPTH = 100
"""Deepest nesting of arrays and objects that a definition or a payload may have."""

PAYLOAD_LIMIT = 262_144
"""Largest payload in bytes of UTF-8 that Step Functions passes between states."""


def is_number(value: JSON) -> bool:
    """Whether ``value`` is a JSON number; ``true`` and ``false`` are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value: JSON) -> bool:
    """Whether ``value`` is a JSON number without a fraction (``3`` and ``3.0``)."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def same(left: JSON, right: JSON) -> bool:
    """Deep equality of JSON: ``1`` equals ``1.0`` but never ``true``."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return (
            isinstance(right, list)
            and len(left) == len(right)
            and all(same(a, b) for a, b in zip(left, right, strict=True))
        )
    return bool(left == right)


def text_order(text: str) -> bytes:
    """What orders texts as Java and JavaScript do: by their units of UTF-16.

    Only a character beyond U+FFFF stands elsewhere than its code point says: before U+E000.
    """
    return text.encode("utf-16-be", "surrogatepass")


def kind(value: JSON) -> str:
    """The JSON name of a value's type, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else type(value).__name__


def depth_exceeds(value: JSON, limit: int = MAX_DEPTH) -> bool:
    """Whether arrays and objects nest deeper than ``limit``; safe on any depth."""
    level = [value]
    for _ in range(limit):
        level = [item for container in level for item in _items(container)]
        if not level:
            return False
    return any(isinstance(item, (dict, list)) for item in level)


def bracket_depth(text: str, opening: str, closing: str) -> int:
    """How deep the brackets of ``text`` nest at most, those within quotes included."""
    depth = deepest = 0
    for character in text:
        if character in opening:
            depth += 1
            deepest = max(deepest, depth)
        elif character in closing:
            depth -= 1
    return deepest


def foreign_places(value: JSON) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where and what in a Python value is not JSON: keys that are no strings, dates, NaN …"""
    waiting: list[tuple[tuple[str | int, ...], JSON]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(((*path, key), inner) for key, inner in item.items())
            for key in item:
                if not isinstance(key, str):
                    yield path, f"the key {key!r} is not a string"
        elif isinstance(item, list):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(item))
        elif isinstance(item, float) and not math.isfinite(item):
            yield path, f"{item} is not a JSON number"
        elif not isinstance(item, (str, int, float, type(None))):
            yield path, f"a {type(item).__name__} is not JSON"


def _items(container: JSON) -> Iterable[JSON]:
    if isinstance(container, dict):
        return container.values()
    return container if isinstance(container, list) else ()


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def compact(value: JSON) -> str:
    """JSON text without spaces, non-ASCII characters as they are."""
    return _ENCODER.encode(value)


def size(value: JSON) -> int:
    """Bytes of UTF-8 that ``value`` takes as compact JSON text."""
    return len(compact(value).encode("utf-8", "surrogatepass"))


def excerpt(value: JSON, limit: int = 60) -> str:
    """A short rendering of ``value`` for a message; soon also of one that has no end."""
    text = _start(value, limit) if is_heavier(value, 8 * limit) else compact(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def is_heavier(value: JSON, limit: int) -> bool:
    """Whether compact JSON text of ``value`` surely has more than ``limit`` characters.

    Looks at no more than that. What templates build may hold the same part so often that its
    text would fill the memory.
    """
    least = 0
    waiting = [value]
    while waiting:
        item = waiting.pop()
        type_ = type(item)
        if type_ is str:
            least += len(item) + 2
        elif type_ is int or type_ is float:
            least += 1
            continue
        elif isinstance(item, dict):
            least += 2 + _key_characters(item) + 3 * len(item)
            waiting += item.values()
        elif isinstance(item, list):
            least += 1 + len(item)
            waiting += item
        else:
            least += 1
        if least > limit:
            return True
    return least > limit


def _key_characters(item: dict[str, JSON]) -> int:
    try:
        return len("".join(item))
    except TypeError:
        return 0  # a key that is no text: whoever stores the value refuses it


def _start(value: JSON, length: int) -> str:
    """Compact text of ``value``, ended soon after ``length`` characters."""
    pieces: list[str] = []
    left = length
    for piece in _ENCODER.iterencode(value):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            break
    return "".join(pieces)
