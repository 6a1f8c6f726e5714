"""The type of a value in words: ``whole number``, ``list of texts``.

A file of its own: inputs, outputs and what a person reports have types.
"""

from __future__ import annotations

from typing import Any

from dcf.sop.conduct import ValueType

_TYPES: dict[str, ValueType] = {
    **dict.fromkeys(("text", "string", "date", "timestamp", "date and time"), "string"),
    **dict.fromkeys(("number", "decimal", "amount"), "number"),
    **dict.fromkeys(("integer", "whole number", "count"), "integer"),
    **dict.fromkeys(("boolean", "yes/no", "yes or no", "flag"), "boolean"),
    **dict.fromkeys(("list", "array"), "array"),
    **dict.fromkeys(("object", "record"), "object"),
}
_SAID: dict[ValueType, tuple[str, str]] = {
    "string": ("text", "texts"),
    "number": ("number", "numbers"),
    "integer": ("whole number", "whole numbers"),
    "boolean": ("yes/no", "yes/no"),
    "array": ("list", "lists"),
    "object": ("record", "records"),
}
"""How a type is written, for one value and for the elements of a list."""


def read_type(words: str) -> dict[str, Any] | None:
    """``type``, and ``items`` of a list whose elements have one; None for no type."""
    outer, of, inner = words.strip().lower().partition(" of ")
    kind = _named(outer)
    if not of or kind is None:
        return None if kind is None else {"type": kind}
    items = _named(inner)
    return None if items is None or kind != "array" else {"type": kind, "items": items}


def _named(word: str) -> ValueType | None:
    return _TYPES.get(word) or _TYPES.get(word.removesuffix("s"))


def print_type(kind: ValueType, items: ValueType | None = None) -> str:
    """As ``read_type`` reads it."""
    one = _SAID[kind][0]
    return f"{one} of {_SAID[items][1]}" if items else one
