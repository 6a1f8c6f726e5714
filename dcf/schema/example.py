"""A value of the shape that a JSON Schema describes, to show to people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_TYPE: Mapping[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}


def example_of(schema: Any) -> Any:
    """What ``schema`` gives as an example, default or choice; else a value of its type, an object
    with its required members. Patterns, limits and ``$ref`` are not looked at."""
    if not isinstance(schema, Mapping):
        return "text"
    for given in ("examples", "enum"):
        if isinstance(schema.get(given), list) and schema[given]:
            return schema[given][0]
    for given in ("const", "default"):
        if given in schema:
            return schema[given]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "array":
        return [example_of(schema.get("items"))]
    if kind == "object":
        members = schema.get("properties")
        members = members if isinstance(members, Mapping) else {}
        return {name: example_of(members.get(name)) for name in schema.get("required", ())}
    return _OF_TYPE.get(str(kind), "text")
