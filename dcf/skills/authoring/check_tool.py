"""Rules for tools: schemas that are schemas, answers that fit them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcf.problem import Problem
from dcf.schema import SchemaUnusable, schema_of
from dcf.skills.authoring.answer import check_answer
from dcf.skills.authoring.check_case import check_case
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolIndex, ToolSource


def check_tools(tools: ToolIndex) -> Iterator[Problem]:
    """Schemas, default response and cases of every tool."""
    yield from tools.problems
    for tool in tools.tools.values():
        yield from check_tool(tool)


def check_tool(tool: ToolSource) -> Iterator[Problem]:
    params, result = tool.place.member("params"), tool.place.member("result")
    found = [problem for place in (params, result) if place for problem in _check_schema(place)]
    yield from found
    if params and isinstance(params.value, dict) and tool.params["type"] != "object":
        message = "the arguments of a tool are an object"
        yield params.problem("TOOL_PARAMS_OBJECT", message, "write type: object")
    if found:  # answers cannot be compared with a broken schema
        return
    default = tool.place.inside("defaults", "response")
    if default:
        yield from check_answer(default, default.value, tool)
    yield from _check_cases(tool)


def _check_cases(tool: ToolSource) -> Iterator[Problem]:
    ids: set[str] = set()
    for case in tool.cases():
        name = case.text("id")
        if name in ids or name == "default":
            message = f"the case id {name!r} is taken"
            hint = "ids are unique within a tool; 'default' is the answer when no case matches"
            yield case.problem("TOOL_CASE_DUPLICATE", message, hint)
        if name:
            ids.add(name)
        yield from check_case(case, tool)


def _check_schema(place: Place) -> Iterator[Problem]:
    if not isinstance(place.value, dict):
        return  # said by the shape check
    try:
        schema_of(place.value)
    except SchemaUnusable as unusable:
        spot = place.descend(unusable.path)
        message = f"this is no JSON Schema: {unusable}"
        hint = "see JSON Schema 2020-12; types are object, array, string, number, integer, boolean"
        yield spot.problem("TOOL_SCHEMA_INVALID", message, hint)
        return
    yield from _check_references(place, place.value)


def _check_references(place: Place, schema: dict[str, Any]) -> Iterator[Problem]:
    """A ``$ref`` stays in its schema, exists, and leads to no other ``$ref``."""
    ref = place.member("$ref")
    if ref and isinstance(ref.value, str):
        target = _target(ref.value, schema)
        if target is None or "$ref" in target:
            message = f"{ref.value!r} leads to no schema in this document"
            hint = "write #/$defs/name for a schema under $defs that is no reference itself"
            yield ref.problem("TOOL_SCHEMA_REF", message, hint)
    for name in ("$id", "$dynamicRef", "$anchor", "$dynamicAnchor"):
        spot = place.member(name)
        if spot and isinstance(spot.value, str):
            message = f"{name} is not supported in tool schemas"
            yield spot.problem("TOOL_SCHEMA_REF", message, "use $ref: '#/$defs/name'")
    for _, member in place.members():
        yield from _check_references(member, schema)
    for element in place.elements():
        yield from _check_references(element, schema)


def _target(ref: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    if not ref.startswith("#/$defs/"):
        return None
    definitions = schema.get("$defs")
    target = (
        definitions.get(ref.removeprefix("#/$defs/")) if isinstance(definitions, dict) else None
    )
    return target if isinstance(target, dict) else None
