"""JSON Schemas of what a procedure declares."""

from __future__ import annotations

from typing import Any

from dcf.sop import Sop, Value


def input_schema(sop: Sop) -> dict[str, Any]:
    """JSON Schema of what a run is given."""
    return {
        "type": "object",
        "properties": {one.name: value_schema(one) for one in sop.inputs},
        "required": [one.name for one in sop.inputs if one.required and one.default is None],
        "additionalProperties": False,
    }


def value_schema(value: Value) -> dict[str, Any]:
    """JSON Schema of ``value``, with its members, default and example."""
    schema: dict[str, Any] = {"type": value.type}
    if value.description:
        schema["description"] = value.description
    if value.enum:
        schema["enum"] = list(value.enum)
    if value.default is not None:
        schema["default"] = value.default
    if value.example is not None:
        schema["examples"] = [value.example]
    members = {
        "properties": {one.name: value_schema(one) for one in value.members},
        "required": [one.name for one in value.members if one.required and one.default is None],
    }
    if value.type == "array":
        items: dict[str, Any] = {"type": value.items} if value.items else {}
        if value.members:
            items = {"type": "object", **members}
        if items:
            schema["items"] = items
    elif value.members:
        schema |= members
    return schema
