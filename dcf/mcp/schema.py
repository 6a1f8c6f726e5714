"""JSON Schemas of tools, written short: each client pays for them in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from dcf.mcp.arguments import Parameter, Parameters
from dcf.mcp.envelope import Legacy

_NOISE = ("title", "additionalProperties")
_FLAGS: dict[str, dict[str, dict[str, str]]] = {
    "ok": {
        "ok": {"type": "boolean", "description": "Whether it worked."},
        "exit_code": {"type": "integer", "description": "0 when it worked."},
    },
    "success": {"success": {"type": "boolean", "description": "Whether it worked."}},
}


def input_schema(parameters: Parameters) -> dict[str, Any]:
    """What a client may send. That null stands for "not given" is not said."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {one.name: _property(one) for one in parameters.all},
    }
    if parameters.strict:
        schema["additionalProperties"] = False
    required = [one.name for one in parameters.all if one.required]
    return {**schema, "required": required} if required else schema


def output_schema(result: Any, legacy: Legacy | None) -> dict[str, Any]:
    """What a tool answers. Nothing but status and error is promised: a failure has little else."""
    whole = TypeAdapter(result).json_schema(mode="serialization")
    definitions = whole.get("$defs", {})
    properties = {
        name: _compact(part, definitions) for name, part in whole.get("properties", {}).items()
    }
    properties |= _FLAGS[legacy] if legacy else {}
    properties["error_id"] = {"type": "string", "description": "Where the log has a defect."}
    return {"type": "object", "properties": properties, "required": ["status", "error"]}


def _property(parameter: Parameter) -> dict[str, Any]:
    if parameter.is_json:
        schema: dict[str, Any] = {"type": "string"}
    else:
        whole = TypeAdapter(parameter.kind).json_schema()
        schema = _without_null(_compact(whole, whole.get("$defs", {})))
    if not parameter.required and parameter.default is not None:
        schema["default"] = parameter.default
    return {**schema, "description": parameter.help}


def _compact(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """``schema`` without titles, references and needless words."""
    if isinstance(schema, list):
        return [_compact(one, definitions) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        rest = {key: part for key, part in schema.items() if key != "$ref"}
        return _compact({**definitions[name], **rest}, definitions)
    kept = {
        key: (
            {name: _compact(part, definitions) for name, part in value.items()}
            if key == "properties"
            else _compact(value, definitions)
        )
        for key, value in schema.items()
        if key != "$defs" and not (key in _NOISE and not isinstance(value, dict))
    }
    options = kept.get("anyOf")
    if options and all(set(option) == {"type"} for option in options):
        del kept["anyOf"]
        kept["type"] = [option["type"] for option in options]
    return kept


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` of an optional parameter: that it may be left out says ``required``."""
    types = schema.get("type")
    if isinstance(types, list):
        left = [one for one in types if one != "null"]
        return {**schema, "type": left[0] if len(left) == 1 else left}
    options = schema.get("anyOf")
    if options:
        left = [one for one in options if one != {"type": "null"}]
        rest = {key: part for key, part in schema.items() if key != "anyOf"}
        return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}
    return schema
