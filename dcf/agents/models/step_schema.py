"""The schema of an answer that says which tool to call, for servers that hold answers to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAY = "say"
_TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def step_schema(tools: Mapping[str, Mapping[str, Any]], *, text: bool) -> dict[str, Any]:
    """``{"step": {"tool": NAME, "arguments": …}}`` with one of ``tools`` (arguments by name);
    with ``text`` also a tool ``say`` for an answer in words."""
    offered = {**tools, SAY: _TEXT} if text and SAY not in tools else dict(tools)
    definitions: dict[str, Any] = {}
    steps = [_step(name, schema, definitions) for name, schema in offered.items()]
    root: dict[str, Any] = {
        "type": "object",
        "properties": {"step": steps[0] if len(steps) == 1 else {"anyOf": steps}},
        "required": ["step"],
        "additionalProperties": False,
    }
    return {**root, "$defs": definitions} if definitions else root


def _step(name: str, schema: Mapping[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    arguments = {key: one for key, one in schema.items() if key not in ("$defs", "$schema", "$id")}
    for key, one in schema.get("$defs", {}).items():
        definitions[f"{name}.{key}"] = _moved(one, name)
    return {
        "type": "object",
        "properties": {"tool": {"const": name}, "arguments": _moved(arguments, name)},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _moved(schema: Any, name: str) -> Any:
    """``schema`` with its references to where its definitions stand now."""
    if isinstance(schema, Mapping):
        moved = {key: _moved(one, name) for key, one in schema.items()}
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            moved["$ref"] = f"#/$defs/{name}.{reference.removeprefix('#/$defs/')}"
        return moved
    return [_moved(one, name) for one in schema] if isinstance(schema, list) else schema
