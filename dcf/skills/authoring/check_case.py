"""Rules for the stub's cases: they can match, and what they answer fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.authoring.answer import check_answer
from dcf.skills.authoring.case_path import CasePath, parse_case_path
from dcf.skills.authoring.case_value import case_value
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolSource


def check_case(case: Place, tool: ToolSource) -> Iterator[Problem]:
    """Match, answer and fault of one case of ``tool``."""
    match = case.member("match")
    if match:
        yield from _check_match(match, tool)
    yield from _check_fault(case)
    yield from _check_response(case, tool)


def _check_match(match: Place, tool: ToolSource) -> Iterator[Problem]:
    strategy = match.text("strategy")
    path_place, value = match.member("path"), match.member("value")
    if strategy == "always":
        for place in (path_place, value):
            if place and place.value is not None:
                message = "a case that always matches compares nothing"
                yield place.problem("TOOL_CASE_ALWAYS", message, "remove path and value", "warning")
        return
    path = None
    if path_place and isinstance(path_place.value, str):
        path = parse_case_path(path_place.value)
        yield from _check_path(path_place, path, tool)
    elif strategy in ("exact", "jsonpath"):
        message = f"the strategy {strategy} needs a path"
        yield match.problem("TOOL_CASE_PATH", message, "name the argument, as in path: order_id")
    if value is None:
        message = f"the strategy {strategy} needs a value"
        yield match.problem("TOOL_CASE_VALUE", message, "say what the argument is compared with")
    elif strategy:
        yield from _check_value(strategy, path, value, tool)


def _check_path(place: Place, path: CasePath | None, tool: ToolSource) -> Iterator[Problem]:
    if path is None:
        message = f"{place.value!r} is no path into the arguments"
        hint = "write names joined by dots, [0] or [*], as in items[0].sku"
        yield place.problem("TOOL_CASE_PATH", message, hint)
    elif path.schema_in(tool.params) is None:
        known = ", ".join(tool.params.get("properties", {}))
        message = f"{place.value!r} leads to no declared argument of {tool.ref}"
        yield place.problem("TOOL_CASE_PATH_UNKNOWN", message, f"arguments are {known}", "warning")


def _check_value(
    strategy: str, path: CasePath | None, place: Place, tool: ToolSource
) -> Iterator[Problem]:
    compared = case_value(strategy, path, place.value, tool.params)
    if compared.wanted:
        kinds = " or ".join(compared.wanted)
        message = f"the value can never match: it is compared with a value of type {kinds}"
        yield place.problem("TOOL_CASE_VALUE_TYPE", message, "comparison keeps types")
    elif compared.changed:
        shown = json.dumps(compared.value, ensure_ascii=False)
        message = f"the value is compared as {shown}, the type of the argument"
        yield place.problem("TOOL_CASE_VALUE_TYPE", message, f"write {shown}", "warning")
    elif strategy == "regex":
        try:
            re.compile(place.value)
        except (re.error, OverflowError, RecursionError) as error:
            message = f"not a regular expression: {error}"
            hint = "quote it in single quotes, so that YAML leaves backslashes alone"
            yield place.problem("TOOL_CASE_REGEX", message, hint)


def _check_fault(case: Place) -> Iterator[Problem]:
    mode = case.text("errorMode")
    for name in ("flakyRate", "seed"):
        place = case.member(name)
        if place and mode != "flaky":
            message = f"{name} has a meaning only with errorMode: flaky"
            yield place.problem("TOOL_CASE_FAULT", message, "add errorMode: flaky, or remove it")
    code = case.member("errorCode")
    if code and mode is None:
        message = "errorCode has a meaning only with an errorMode"
        yield code.problem("TOOL_CASE_FAULT", message, "add errorMode: throw, or remove it")


def _check_response(case: Place, tool: ToolSource) -> Iterator[Problem]:
    response, template = case.member("response"), case.member("responseTemplate")
    if response and template:
        message = "a case has either response or responseTemplate"
        yield template.problem("TOOL_CASE_RESPONSE", message, "keep one of the two")
    # What a failing call says is free: the result schema is of successes.
    if case.text("errorMode") not in (None, "flaky"):
        return
    if response:
        yield from check_answer(response, response.value, tool)
    if template and isinstance(template.value, str):
        yield from check_answer(template, template_value(template.value), tool)


def template_value(text: str) -> object:
    """What a responseTemplate answers before placeholders are filled in: JSON, else the text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
