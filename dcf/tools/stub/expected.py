"""The value a case compares with, in the type of the argument it is compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dcf.tools.stub.argument_path import ArgumentPath

_PYTHON = {"True": True, "False": False, "None": None}
_JSON_TYPE = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}


def expected_value(value: Any, strategy: str, path: ArgumentPath | None, schema: Any) -> Any:
    """``value``, read as JSON where the schema of the arguments says that no text stands there.

    Configurations of the earlier generator have every value as text: ``"5"`` for an argument that
    is an integer is 5, ``"True"`` and ``"true"`` for a boolean are true. The strategy ``jsonpath``
    had the JSON of a text there, quotes included.
    """
    if not isinstance(value, str) or path is None or strategy not in ("exact", "jsonpath"):
        return value
    wanted = json_types(path.schema_in(schema))
    parsed = _parsed(value)
    if "string" in wanted:
        return parsed if strategy == "jsonpath" and isinstance(parsed, str) else value
    return parsed if json_type(parsed) in wanted else value


def json_types(schema: Any) -> frozenset[str]:
    """The types that a schema names; ``integer`` joins ``number``. Empty: it names none."""
    declared = schema.get("type", ()) if isinstance(schema, Mapping) else ()
    names = {declared} if isinstance(declared, str) else set(declared)
    return frozenset(names | {"integer"} if "number" in names else names)


def json_type(value: Any) -> str:
    """The JSON type of a value; a number without a fraction is an ``integer``."""
    if value is None:
        return "null"
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return _JSON_TYPE.get(type(value), "object")


def text_forms(value: Any) -> tuple[str, ...]:
    """How the earlier stub wrote a value that was compared as text; ``()`` for text itself."""
    if isinstance(value, str):
        return ()
    return (json.dumps(value, ensure_ascii=False), str(value))


def _parsed(text: str) -> Any:
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
