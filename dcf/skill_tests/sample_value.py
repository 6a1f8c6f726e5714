"""Values that fit a JSON Schema."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from dcf.skill_tests.sample_text import sample_texts

_DEPTH = 8
_DEEPEST = 30
_FORMATS = {
    "date": "2026-03-14",
    "date-time": "2026-03-14T09:26:53Z",
    "time": "09:26:53Z",
    "email": "ann.sample@example.com",
    "idn-email": "ann.sample@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/sample",
    "uri-reference": "/sample",
    "iri": "https://example.com/sample",
    "uuid": "0f9e1c3a-7b52-4c6d-8e1f-2a3b4c5d6e7f",
    "duration": "PT15M",
    "json-pointer": "/sample",
    "regex": "^sample$",
}
_WORDS = ("sample", "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf")
Schema = Mapping[str, Any]


class Sampler:
    """Makes values for the schemas of one document.

    A ``plain`` one has what is required, with defaults and first choices; others vary, and have
    optional members too. Values fit as far as the keywords are known here: check them.
    """

    def __init__(self, document: Schema, rng: Random, *, plain: bool) -> None:
        self._document = document
        self._rng = rng
        self._plain = plain
        self._makers: dict[str, Callable[[Schema, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda _schema, _depth: self._rng.random() < 0.5,
            "null": lambda _schema, _depth: None,
        }

    def value(self, schema: Any, depth: int = 0) -> Any:
        """A value that fits ``schema``; None where it goes on without end."""
        if depth > _DEEPEST:
            return None
        schema = self.resolved(schema)
        given = _given(schema)
        if given and (self._plain or self._rng.random() < 0.7):
            return given[0] if self._plain else self._rng.choice(given)
        for member in ("oneOf", "anyOf"):
            choices = schema.get(member)
            if isinstance(choices, Sequence) and choices:
                rest = {key: value for key, value in schema.items() if key != member}
                return self.value(_joined(rest, self.resolved(self._one(choices))), depth + 1)
        return self._makers[self._type(schema)](schema, depth)

    def resolved(self, schema: Any) -> Schema:
        """``schema`` with its ``$ref`` followed and its ``allOf`` joined."""
        here: Schema = schema if isinstance(schema, Mapping) else {}
        for _ in range(_DEPTH):
            ref, parts = here.get("$ref"), here.get("allOf")
            if isinstance(ref, str):
                target = self._document.get("$defs", {}).get(ref.rpartition("/")[2], {})
                here = _joined(target, {key: here[key] for key in here if key != "$ref"})
            elif isinstance(parts, Sequence):
                here = {key: here[key] for key in here if key != "allOf"}
                for part in parts:
                    here = _joined(here, self.resolved(part))
            else:
                break
        return here

    def _type(self, schema: Schema) -> str:
        declared = schema.get("type")
        if isinstance(declared, str):
            return declared if declared in self._makers else "string"
        if isinstance(declared, Sequence) and declared:
            return str(self._one(declared))
        for kind, members in _TELLING.items():
            if members & schema.keys():
                return kind
        return "string"

    def _one(self, choices: Sequence[Any]) -> Any:
        return choices[0] if self._plain else self._rng.choice(choices)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        members = schema.get("properties")
        members = members if isinstance(members, Mapping) else {}
        required = set(schema.get("required", ()))
        least = schema.get("minProperties", 0)
        made: dict[str, Any] = {}
        for name, member in members.items():
            optional = not self._plain and depth < 3 and self._rng.random() < 0.4
            if name in required or optional:
                made[name] = self.value(member, depth + 1)
        for name in [*sorted(required - members.keys()), *members]:
            if name not in made and (name in required or len(made) < least):
                made[name] = self.value(members.get(name, self._others(schema)), depth + 1)
        while len(made) < least and depth < _DEPTH:
            made[f"member_{len(made) + 1}"] = self.value(self._others(schema), depth + 1)
        return made

    def _others(self, schema: Schema) -> Any:
        others = schema.get("additionalProperties")
        return others if isinstance(others, Mapping) else {"type": "string"}

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        least = int(schema.get("minItems", 0))
        most = min(int(schema.get("maxItems", least + 2)), least + 2)
        wanted = (
            max(least, min(1, most)) if self._plain else self._rng.randint(least, max(most, least))
        )
        if depth >= _DEPTH:
            wanted = least
        first = list(schema.get("prefixItems", ()))
        items: list[Any] = []
        for index in range(wanted * 4 if schema.get("uniqueItems") else wanted):
            if len(items) == wanted:
                break
            kind = first[index] if index < len(first) else schema.get("items", {"type": "string"})
            item = self.value(kind, depth + 1)
            if not schema.get("uniqueItems") or item not in items:
                items.append(item)
        return items

    def _string(self, schema: Schema, _depth: int) -> str:
        least, most = int(schema.get("minLength", 0)), schema.get("maxLength", math.inf)
        pattern, form = schema.get("pattern"), schema.get("format")
        if isinstance(pattern, str):
            for text in sample_texts(pattern, self._rng):
                if least <= len(text) <= most:
                    return text
        if form in _FORMATS:
            return _FORMATS[form]
        text = (
            "sample" if self._plain else f"{self._rng.choice(_WORDS)}-{self._rng.randint(1, 999)}"
        )
        text = text.ljust(least, "x")
        return text if len(text) <= most else text[: int(most)]

    def _integer(self, schema: Schema, _depth: int) -> int:
        low, high = _bounds(schema, 1)
        step = schema.get("multipleOf", 1)
        step = int(step) if isinstance(step, int | float) and step >= 1 else 1
        first, last = math.ceil(low / step), math.floor(high / step)
        return step * (first if self._plain or last < first else self._rng.randint(first, last))

    def _number(self, schema: Schema, _depth: int) -> float:
        low, high = _bounds(schema, 1e-3)
        step = schema.get("multipleOf")
        if step:
            first, last = math.ceil(low / step), math.floor(high / step)
            return float(
                step * (first if self._plain else self._rng.randint(first, max(first, last)))
            )
        return low if self._plain else round(self._rng.uniform(low, high), 2)


_TELLING = {
    "object": {"properties", "required", "additionalProperties", "minProperties"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
    "string": {"pattern", "format", "minLength", "maxLength"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}
"""What tells the type of a schema that names none."""


def _given(schema: Schema) -> list[Any]:
    """The values that the schema itself names."""
    if "const" in schema:
        return [schema["const"]]
    enum = schema.get("enum")
    if isinstance(enum, list) and enum:
        default = schema.get("default")
        return [default, *enum] if default in enum else list(enum)
    given = [schema["default"]] if schema.get("default") is not None else []
    examples = schema.get("examples")
    return [*given, *(examples if isinstance(examples, list) else ())]


def _joined(left: Schema, right: Schema) -> dict[str, Any]:
    """Both schemas at once, where that can be said simply."""
    both = {**left, **right}
    if isinstance(left.get("properties"), Mapping) and isinstance(right.get("properties"), Mapping):
        both["properties"] = {**left["properties"], **right["properties"]}
    if "required" in left and "required" in right:
        both["required"] = [*left["required"], *right["required"]]
    return both


def _bounds(schema: Schema, nearest: float) -> tuple[float, float]:
    """Lowest and highest number; a thousand apart where a side is open. ``nearest`` is how near to
    an exclusive bound one may come."""
    lows = [schema["minimum"]] if "minimum" in schema else []
    highs = [schema["maximum"]] if "maximum" in schema else []
    if "exclusiveMinimum" in schema:
        lows.append(schema["exclusiveMinimum"] + nearest)
    if "exclusiveMaximum" in schema:
        highs.append(schema["exclusiveMaximum"] - nearest)
    low = max(lows) if lows else min(1, min(highs)) if highs else 1
    high = min(highs) if highs else low + 1000
    return low, max(high, low)
