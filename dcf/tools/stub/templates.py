"""Placeholders in responses: ``{{now_iso}} {{uuid}} {{random_int(a, b)}} {{args.path}}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dcf.tools.stub.chance import Chance
from dcf.tools.stub.expected import json_type, json_types
from dcf.tools.stub.matching import json_text

PLACEHOLDER = re.compile(r"\{\{\s*(?P<inside>[^{}]+?)\s*\}\}")
RANDOM_INT = re.compile(r"random_int\(\s*(-?\d{1,99})\s*,\s*(-?\d{1,99})\s*\)")
_STEP = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<index>\d{1,9})\]")
UNKNOWN = object()
MOST_CHARACTERS = 4 * 1024 * 1024
"""That all placeholders of a response may come to: arguments are large, and written many times."""


class FilledTooFar(Exception):
    """The placeholders of a response come to more than ``MOST_CHARACTERS``."""


class Template:
    """Fills in the placeholders of one response.

    A string that is one placeholder and nothing else becomes its value with its JSON type, unless
    the schema of the response wants a text there; within other text a value is written as text.
    What is not known stays as it was written.
    """

    def __init__(self, arguments: Mapping[str, Any], chance: Chance, now: float) -> None:
        self._arguments = arguments
        self._chance = chance
        self._now = now
        self._draws = 0
        self._filled = 0

    def render(self, value: Any, schema: Any = None) -> Any:
        """``value`` with the placeholders of all its strings filled in; keys stay. Raises
        ``FilledTooFar``."""
        if isinstance(value, str):
            return self._render_text(value, schema)
        if isinstance(value, list):
            items = schema_of(schema, 0)
            return [self.render(item, items) for item in value]
        if isinstance(value, Mapping):
            return {key: self.render(item, schema_of(schema, key)) for key, item in value.items()}
        return value

    def _render_text(self, text: str, schema: Any) -> Any:
        if "{{" not in text:
            return text
        whole = PLACEHOLDER.fullmatch(text)
        if whole is None:
            return PLACEHOLDER.sub(self._inline, text)
        value = self._value(whole["inside"])
        if value is UNKNOWN:
            return text
        self._count(value if isinstance(value, str) else json_text(value))
        return as_wanted(value, schema)

    def _inline(self, placeholder: re.Match[str]) -> str:
        value = self._value(placeholder["inside"])
        if value is UNKNOWN:
            return placeholder[0]
        return self._count(value if isinstance(value, str) else json_text(value))

    def _count(self, text: str) -> str:
        self._filled += len(text)
        if self._filled > MOST_CHARACTERS:
            raise FilledTooFar
        return text

    def _value(self, inside: str) -> Any:
        if inside == "now_iso":
            moment = datetime.fromtimestamp(self._now, UTC)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if inside == "uuid":
            return self._chance.uuid(self._purpose())
        if bounds := RANDOM_INT.fullmatch(inside):
            return self._chance.integer(int(bounds[1]), int(bounds[2]), self._purpose())
        return argument_at(self._arguments, inside.removeprefix("args."))

    def _purpose(self) -> str:
        """A name for the next draw, so that two placeholders of a response differ."""
        self._draws += 1
        return f"placeholder {self._draws}"


def as_wanted(value: Any, schema: Any) -> Any:
    """``value`` as a placeholder gives it: as text where the schema allows text and not its type.

    >>> as_wanted(5, {"type": "string"}), as_wanted(5, {"type": ["string", "number"]})
    ('5', 5)
    """
    wanted = json_types(schema)
    if "string" not in wanted or json_type(value) in wanted:
        return value
    return value if isinstance(value, str) else json_text(value)


def schema_of(schema: Any, step: str | int) -> Any:
    """What ``schema`` says of a member (or, for any number, of the elements)."""
    if not isinstance(schema, Mapping):
        return None
    if isinstance(step, int):
        return schema.get("items")
    members = schema.get("properties")
    return members.get(step) if isinstance(members, Mapping) else None


def argument_at(value: Any, path: str) -> Any:
    """The value at a path such as ``items[0].name``, or ``UNKNOWN``."""
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return UNKNOWN
        position = step.end()
        if step["index"] is not None:
            index = int(step["index"])
            if not isinstance(value, list) or index >= len(value):
                return UNKNOWN
            value = value[index]
        elif isinstance(value, Mapping) and step["name"] in value:
            value = value[step["name"]]
        else:
            return UNKNOWN
    return value
