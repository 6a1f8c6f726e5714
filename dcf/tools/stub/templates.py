"""Placeholders in responses: ``{{now_iso}} {{uuid}} {{random_int(a, b)}} {{args.path}}``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from dcf.tools.stub.chance import Chance
from dcf.tools.stub.matching import json_text

_PLACEHOLDER = re.compile(r"\{\{\s*(?P<inside>[^{}]+?)\s*\}\}")
_RANDOM_INT = re.compile(r"random_int\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)")
_STEP = re.compile(r"\.?(?P<name>[^.\[\]]+)|\[(?P<index>\d+)\]")
_UNKNOWN = object()


class Template:
    """Fills in the placeholders of one response.

    A string that is one placeholder and nothing else becomes its value with its JSON type; within
    other text a value is written as text. What is not known stays as it was written.
    """

    def __init__(self, arguments: Mapping[str, Any], chance: Chance, now: float) -> None:
        self._arguments = arguments
        self._chance = chance
        self._now = now
        self._draws = 0

    def render(self, value: Any) -> Any:
        """``value`` with the placeholders of all its strings filled in; keys stay."""
        if isinstance(value, str):
            return self._render_text(value)
        if isinstance(value, list):
            return [self.render(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.render(item) for key, item in value.items()}
        return value

    def _render_text(self, text: str) -> Any:
        whole = _PLACEHOLDER.fullmatch(text)
        if whole is not None:
            value = self._value(whole["inside"])
            return text if value is _UNKNOWN else value
        return _PLACEHOLDER.sub(self._inline, text)

    def _inline(self, placeholder: re.Match[str]) -> str:
        value = self._value(placeholder["inside"])
        if value is _UNKNOWN:
            return placeholder[0]
        return value if isinstance(value, str) else json_text(value)

    def _value(self, inside: str) -> Any:
        if inside == "now_iso":
            moment = datetime.fromtimestamp(self._now, UTC)
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if inside == "uuid":
            return self._chance.uuid(self._purpose())
        if bounds := _RANDOM_INT.fullmatch(inside):
            return self._chance.integer(int(bounds[1]), int(bounds[2]), self._purpose())
        return _at(self._arguments, inside.removeprefix("args."))

    def _purpose(self) -> str:
        """A name for the next draw, so that two placeholders of a response differ."""
        self._draws += 1
        return f"placeholder {self._draws}"


def _at(value: Any, path: str) -> Any:
    """The value at a path such as ``items[0].name``, or ``_UNKNOWN``."""
    position = 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return _UNKNOWN
        position = step.end()
        if step["index"] is not None:
            index = int(step["index"])
            if not isinstance(value, list) or index >= len(value):
                return _UNKNOWN
            value = value[index]
        elif isinstance(value, Mapping) and step["name"] in value:
            value = value[step["name"]]
        else:
            return _UNKNOWN
    return value
