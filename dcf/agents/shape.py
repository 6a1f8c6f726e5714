"""Whether a value fits a JSON Schema as far as its type goes.

A rehearsal only has to find the value that is *meant*; ranges, patterns and the inside of objects
are for the tool to judge, whose message is better than "nothing found" would be. So ``type``,
``enum`` and ``const`` count, also behind ``anyOf``, ``oneOf``, ``allOf`` and local references.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from dcf.agents.assignment import JSON

_MAX_REFERENCES = 16
_TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


def fits(value: JSON, schema: JSON, root: Mapping[str, Any]) -> bool:
    """Whether ``value`` has a type and, where fixed, a value that ``schema`` allows.

    ``root`` is the document that local references (``#/$defs/Name``) point into.
    """
    return bool(Draft202012Validator(outline(schema, root)).is_valid(value))


def outline(schema: JSON, root: Mapping[str, Any], depth: int = 0) -> dict[str, Any] | bool:
    """``schema`` reduced to the keywords that count, without references.

    A reference that leads nowhere, outside the document or in circles allows anything, and so
    does a type that JSON Schema does not have.
    """
    if not isinstance(schema, Mapping):
        return schema if isinstance(schema, bool) else True
    if depth > _MAX_REFERENCES:
        return True
    kept: dict[str, Any] = {
        keyword: schema[keyword] for keyword in ("type", "enum", "const") if keyword in schema
    }
    if not _TYPES.issuperset(_declared(kept)):
        del kept["type"]
    demands: list[dict[str, Any] | bool] = [
        _any_of(schema[word], root, depth) for word in ("anyOf", "oneOf") if word in schema
    ]
    demands += [outline(part, root, depth + 1) for part in schema.get("allOf", ())]
    if "$ref" in schema:
        demands.append(outline(_resolve(schema["$ref"], root), root, depth + 1))
    if demands:
        kept["allOf"] = demands
    return kept


def type_name(schema: JSON, root: Mapping[str, Any]) -> str:
    """The allowed types in words, for messages: ``string``, ``integer or null``, ``any type``."""
    return " or ".join(dict.fromkeys(_types(outline(schema, root)))) or "any type"


def only_value(schema: JSON) -> tuple[JSON, ...]:
    """The one value that ``const`` or an ``enum`` of one leaves, as a tuple of one, else empty."""
    if not isinstance(schema, Mapping):
        return ()
    if "const" in schema:
        return (schema["const"],)
    choices = schema.get("enum", ())
    return tuple(choices) if len(choices) == 1 else ()


def _any_of(parts: list[JSON], root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    # oneOf too: without the dropped keywords several of its parts may fit at once.
    return {"anyOf": [outline(part, root, depth + 1) for part in parts]}


def _resolve(reference: JSON, root: Mapping[str, Any]) -> JSON:
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return True
    place: JSON = root
    for step in reference[2:].split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(place, Mapping) or name not in place:
            return True
        place = place[name]
    return place


def _types(outlined: dict[str, Any] | bool) -> list[str]:
    if isinstance(outlined, bool):
        return []
    found = _declared(outlined)
    for word in ("anyOf", "allOf"):
        for part in outlined.get(word, ()):
            found += _types(part)
    return found


def _declared(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)
