"""Authored arguments against the schema of their tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.problem import Problem
from dcf.schema import SchemaUnusable, schema_of
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolSource
from dcf.skills.authoring.unusable_schema import unusable_schema


def check_arguments(place: Place, value: Any, tool: ToolSource) -> Iterator[Problem]:
    """Problems of ``value`` as the arguments of a call of ``tool``; ``place`` is where it stands.

    Nothing about a tool whose schema is broken: that is said at the schema.
    """
    try:
        errors = schema_of(tool.params).faults(value)
    except SchemaUnusable as unusable:
        yield from unusable_schema(place, "params", unusable)
        return
    for error in errors:
        message = f"{tool.ref} does not take these arguments: {error.message}"
        spot = place.descend(error.absolute_path)
        yield spot.problem("TOOL_ARGUMENTS_MISMATCH", message, f"see the params of {tool.ref}")
