"""An authored answer against the schema of its tool, placeholders aside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from jsonschema.exceptions import ValidationError

from dcf.problem import Problem
from dcf.schema import SchemaUnusable, schema_of
from dcf.skills.authoring.case_path import parse_case_path
from dcf.skills.authoring.case_response import answers
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolSource
from dcf.skills.authoring.unusable_schema import unusable_schema

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_FUNCTION = re.compile(r"now_iso|uuid|random_int\(\s*-?\d+\s*,\s*-?\d+\s*\)")


def check_answer(place: Place, value: Any, tool: ToolSource) -> Iterator[Problem]:
    """Problems of ``value`` as an answer of ``tool``; ``place`` is where it was written."""
    for text in _texts(value):
        for inside in _PLACEHOLDER.findall(text):
            yield from _check_placeholder(place, inside, tool)
    try:
        errors = schema_of(tool.result).faults(value)
    except SchemaUnusable as unusable:
        yield from unusable_schema(place, "result", unusable)
        return
    for error in errors:
        if not _excused(error):
            at = "".join(f"/{step}" for step in error.absolute_path)
            message = f"the answer does not fit the result schema of {tool.ref}: {error.message}"
            hint = f"mend {at or 'the answer'}, or the tool's result: till then it has none"
            # The JSON of a responseTemplate has no places of its own: there it stays at the text.
            spot = place.descend(error.absolute_path)
            yield spot.problem("TOOL_ANSWER_MISMATCH", message, hint, "warning")


def all_answers_fit(tool: ToolSource) -> bool:
    """Whether every answer that was written for ``tool`` fits its result schema."""
    written = tool.place.inside("defaults", "response")
    found = [(written, written.value)] if written else []
    for case in tool.cases():
        steps = case.inside("sequence", "steps")
        for place in steps.elements() if steps else (case,):
            found.extend(answers(place))
    codes = {problem.code for place, value in found for problem in check_answer(place, value, tool)}
    return "TOOL_ANSWER_MISMATCH" not in codes


def _excused(error: ValidationError) -> bool:
    """Whether a placeholder may still turn the value into a fitting one.

    A text that is one placeholder takes the type of what it stands for; a placeholder inside other
    text stays text.
    """
    if not isinstance(error.instance, str):
        composed = error.validator in ("anyOf", "oneOf", "not", "if")
        return composed and any(map(_PLACEHOLDER.search, _texts(error.instance)))
    if _PLACEHOLDER.fullmatch(error.instance.strip()):
        return True
    return error.validator != "type" and _PLACEHOLDER.search(error.instance) is not None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _check_placeholder(place: Place, inside: str, tool: ToolSource) -> Iterator[Problem]:
    if _FUNCTION.fullmatch(inside):
        return
    path = parse_case_path(inside.removeprefix("args."))
    if path and None not in path.steps and path.schema_in(tool.params) is not None:
        return
    names = ["now_iso", "uuid", "random_int(1, 6)"]
    names += [f"args.{name}" for name in tool.params.get("properties", {})]
    near = get_close_matches(inside, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"
    message = f"the placeholder {inside!r} stands for nothing and stays as it is"
    yield place.problem("TOOL_PLACEHOLDER_UNKNOWN", message, hint, "warning")
