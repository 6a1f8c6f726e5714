"""What is known of a value that has no schema of its own: worked out from where it comes from and
where it goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcf.planner.compiling.tool_results import Schema, type_of

_EXAMPLES: Mapping[str, Any] = {
    "string": "example",
    "number": 1.5,
    "integer": 1,
    "boolean": True,
    "null": None,
}
_DEEPEST = 12
"""A list of lists of lists …: a procedure may say of a value that it is an element of itself."""


class Shape:
    """A value's shape. Two that turn out to be the same value are joined, and what is known of one
    is known of both from then on. ``drafted``: a tool of which there is only a draft gives it, so
    that its type is ours to choose."""

    def __init__(self) -> None:
        self._joined: Shape | None = None
        self._facts: dict[str, Any] = {}
        self._element: Shape | None = None
        self._members: dict[str, Shape] = {}
        self._optional: set[str] = set()
        self._drafted = False

    @property
    def kind(self) -> str | None:
        """The JSON type, None where nothing tells it."""
        own = self._own()
        if "type" in own._facts:
            return str(own._facts["type"])
        if own._element is not None:
            return "array"
        if own._members:
            return "object"
        return "string" if own._drafted else None

    @property
    def is_drafted(self) -> bool:
        return self._own()._drafted

    @property
    def is_told(self) -> bool:
        """Whether something tells the type."""
        own = self._own()
        return bool(own._facts or own._element or own._members)

    def element(self) -> Shape:
        """The shape of each element: the value is a list."""
        own = self._own()
        if own._element is None:
            own._element = Shape()
            own._element._drafted = own._drafted
        return own._element

    def at(self, path: str) -> Shape:
        """The shape of the member at the dotted ``path``; the value itself for an empty one."""
        own = self._own()
        if not path:
            return own
        name, _, rest = path.partition(".")
        if name not in own._members:
            member = own._members[name] = Shape()
            member._drafted = own._drafted
        return own._members[name].at(rest)

    def draft(self) -> Shape:
        """Say that a draft gives the value."""
        own = self._own()
        if not own._drafted:
            own._drafted = True
            for inner in (*own._members.values(), *([own._element] if own._element else ())):
                inner.draft()
        return self

    def join(self, other: Shape) -> None:
        """Both are the same value."""
        one, two = self._own(), other._own()
        if one is two:
            return
        two._joined = one
        one._facts = {**two._facts, **one._facts}
        one._optional |= two._optional
        if two._element is not None:
            one.element().join(two._element)
        for name, member in two._members.items():
            one.at(name).join(member)
        if one._drafted or two._drafted:
            one._drafted = False
            one.draft()

    def hint(self, schema: Schema) -> None:
        """What ``schema`` says, as far as nothing else was said before."""
        own = self._own()
        kind = type_of(schema)
        if kind is None or own._facts.get("type", kind) != kind:
            return
        told = {name: schema[name] for name in ("type", "enum", "format") if name in schema}
        examples = [*schema.get("examples", ()), *schema.get("enum", ())]
        example = schema.get("default", examples[0] if examples else None)
        if example is not None:
            told["example"] = example
        own._facts = {**told, **own._facts}
        if kind == "array" and "items" in schema:
            own.element().hint(schema["items"])
        if kind == "object":
            required = schema.get("required", ())
            for name, member in schema.get("properties", {}).items():
                if name not in required and name not in own._members:
                    own._optional.add(name)
                own.at(name).hint(member)

    def prefer(self, example: Any) -> None:
        """Let ``example`` stand for the value, whatever was preferred before."""
        self._own()._facts["example"] = example

    def schema(self, deep: int = 0) -> dict[str, Any]:
        """The JSON Schema; ``{}`` where nothing is known and nothing is ours to choose."""
        own, kind = self._own(), self.kind
        if kind is None:
            return {}
        found: dict[str, Any] = {"type": kind}
        found |= {name: own._facts[name] for name in ("enum", "format") if name in own._facts}
        if deep >= _DEEPEST:
            return found
        if kind == "array" and own._element is not None and own._element.is_told:
            found["items"] = own._element.schema(deep + 1)
        if kind == "object" and own._members:
            found["properties"] = {
                name: member.schema(deep + 1) for name, member in own._members.items()
            }
            found["required"] = [name for name in own._members if name not in own._optional]
        return found

    def example(self, deep: int = 0) -> Any:
        """A value of this shape; lists have one element."""
        own, kind = self._own(), self.kind or "string"
        if "example" in own._facts:
            return own._facts["example"]
        if own._facts.get("format") == "date-time":
            return "2026-01-05T09:00:00Z"
        if kind == "array":
            element = own._element or Shape()
            return [element.example(deep + 1)] if deep < _DEEPEST else []
        if kind == "object":
            members = own._members.items() if deep < _DEEPEST else ()
            return {name: member.example(deep + 1) for name, member in members}
        return _EXAMPLES.get(kind, "example")

    def _own(self) -> Shape:
        """The shape that this one was joined to."""
        shape = self
        while shape._joined is not None:
            shape = shape._joined
        return shape
