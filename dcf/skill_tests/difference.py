"""How an answer differs from what was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dcf.tools.stub import (
    PLACEHOLDER,
    RANDOM_INT,
    UNKNOWN,
    argument_at,
    as_wanted,
    json_text,
    same,
    schema_of,
)

_MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_SHOWN = 200


class Expected:
    """A response with placeholders, to compare answers with.

    What the arguments give is compared by value. What time and chance give is compared by shape:
    ``now_iso`` is a moment in ISO 8601, ``uuid`` a UUID, ``random_int(a, b)`` a whole number from a
    to b. A placeholder that is not known stays the text that it is.
    """

    def __init__(self, response: Any, arguments: Mapping[str, Any], schema: Any) -> None:
        self._response = response
        self._arguments = arguments
        self._schema = schema

    def differences(self, actual: Any) -> list[str]:
        """Lines such as ``$.status: expected "done", got "open"``; none when it is right."""
        return list(_differences(self._response, actual, "$", self._schema, self._leaf))

    def _leaf(self, expected: str, actual: Any, schema: Any) -> str | None:
        """What was expected, where ``actual`` is not it."""
        whole = PLACEHOLDER.fullmatch(expected)
        if "{{" not in expected:
            return _plain_leaf(expected, actual, schema)
        if whole is None:
            pattern = self._pattern(expected)
            fits = isinstance(actual, str) and re.fullmatch(pattern, actual, re.DOTALL)
            return None if fits else f"{_shown(expected)} filled in"
        inside = whole["inside"]
        if bounds := RANDOM_INT.fullmatch(inside):
            low, high = sorted((int(bounds[1]), int(bounds[2])))
            if isinstance(as_wanted(low, schema), str):
                actual = _number(actual)
            within = type(actual) is int and low <= actual <= high
            return None if within else f"a number from {low} to {high}"
        if inside in _SHAPES:
            pattern, name = _SHAPES[inside]
            fits = isinstance(actual, str) and re.fullmatch(pattern, actual)
            return None if fits else name
        value = argument_at(self._arguments, inside.removeprefix("args."))
        value = expected if value is UNKNOWN else as_wanted(value, schema)
        return None if same(value, actual) else _shown(value)

    def _pattern(self, text: str) -> str:
        """A text with placeholders as a regular expression."""
        parts: list[str] = []
        position = 0
        for placeholder in PLACEHOLDER.finditer(text):
            parts.append(re.escape(text[position : placeholder.start()]))
            inside = placeholder["inside"]
            if RANDOM_INT.fullmatch(inside):
                parts.append(r"-?\d+")
            elif inside in _SHAPES:
                parts.append(_SHAPES[inside][0])
            else:
                value = argument_at(self._arguments, inside.removeprefix("args."))
                value = placeholder[0] if value is UNKNOWN else value
                parts.append(re.escape(value if isinstance(value, str) else json_text(value)))
            position = placeholder.end()
        return "".join([*parts, re.escape(text[position:])])


_SHAPES = {"now_iso": (_MOMENT, "a moment in ISO 8601"), "uuid": (_UUID, "a UUID")}

Leaf = Callable[[str, Any, Any], str | None]


def missing_parts(part: Any, actual: Any, path: str = "$") -> Iterator[str]:
    """What of ``part`` is not in ``actual``: of an object each given member, of a list each given
    element in some element, of a text the text; other values must be equal."""
    if isinstance(part, Mapping) and isinstance(actual, Mapping):
        for name, member in part.items():
            if name in actual:
                yield from missing_parts(member, actual[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}: expected {_shown(member)}, is missing"
    elif isinstance(part, list) and isinstance(actual, list):
        for index, element in enumerate(part):
            if not any(not list(missing_parts(element, other)) for other in actual):
                yield f"{path}: no element holds {_shown(element)} (the {index + 1}. expected)"
    elif isinstance(part, str) and isinstance(actual, str):
        if part not in actual:
            yield f"{path}: expected a text with {_shown(part)}, got {_shown(actual)}"
    elif not same(part, actual):
        yield f"{path}: expected {_shown(part)}, got {_shown(actual)}"


def plain_differences(expected: Any, actual: Any) -> list[str]:
    """As ``Expected.differences``, for a value without placeholders."""
    return list(_differences(expected, actual, "$", None, _plain_leaf))


def _plain_leaf(expected: str, actual: Any, _schema: Any) -> str | None:
    return None if same(expected, actual) else _shown(expected)


def _differences(expected: Any, actual: Any, path: str, schema: Any, leaf: Leaf) -> Iterator[str]:
    if isinstance(expected, str):
        wanted = leaf(expected, actual, schema)
        if wanted is not None:
            yield f"{path}: expected {wanted}, got {_shown(actual)}"
    elif isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for name in expected:
            inner = f"{path}.{name}"
            if name not in actual:
                yield f"{inner}: expected {_shown(expected[name])}, is missing"
            else:
                member = schema_of(schema, name)
                yield from _differences(expected[name], actual[name], inner, member, leaf)
        for name in actual:
            if name not in expected:
                yield f"{path}.{name}: is not expected, got {_shown(actual[name])}"
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{path}: expected {len(expected)} elements, got {len(actual)}"
        for index, (left, right) in enumerate(zip(expected, actual, strict=False)):
            yield from _differences(left, right, f"{path}[{index}]", schema_of(schema, 0), leaf)
    elif not same(expected, actual):
        yield f"{path}: expected {_shown(expected)}, got {_shown(actual)}"


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d{1,99}", value) else None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
