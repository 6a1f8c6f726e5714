"""Rules for the stub's cases: they can match, and what they answer fits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from dcf.problem import Problem
from dcf.skills.authoring.arguments import check_arguments
from dcf.skills.authoring.case_answer import check_case_answer
from dcf.skills.authoring.case_path import CasePath, case_path, parse_case_path
from dcf.skills.authoring.case_value import case_value
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.slow_pattern import is_slow
from dcf.skills.authoring.tool_index import ToolSource


def check_case(case: Place, tool: ToolSource) -> Iterator[Problem]:
    """Match, answer and arguments of one case of ``tool``."""
    match = case.member("match")
    if match:
        yield from _check_match(match, tool)
    yield from check_case_answer(case, tool)
    arguments = case.member("arguments")
    if arguments:
        yield from check_arguments(arguments, arguments.value, tool)


def _check_match(match: Place, tool: ToolSource) -> Iterator[Problem]:
    strategy = match.text("strategy")
    written = isinstance(match.value, dict) and case_path(match.value)
    path_place, value = match.member("path") if written else None, match.member("value")
    if strategy == "always":
        for place in (path_place, value):
            if place and place.value is not None:
                message = "a case that always matches compares nothing"
                yield place.problem("TOOL_CASE_ALWAYS", message, "remove path and value", "warning")
        return
    path = None
    if path_place:
        path = parse_case_path(path_place.value)
        yield from _check_path(path_place, path, tool)
    elif strategy in ("exact", "jsonpath") and not isinstance(value and value.value, dict):
        message = f"without a path, {strategy} compares all arguments: the value is an object"
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
        yield place.problem("TOOL_CASE_VALUE_TYPE", message, "comparison keeps types", "warning")
    elif compared.changed:
        shown = json.dumps(compared.value, ensure_ascii=False)
        message = f"the value is compared as {shown}, the type of the argument"
        yield place.problem("TOOL_CASE_VALUE_TYPE", message, f"write {shown}", "warning")
    if strategy == "regex":
        yield from _check_pattern(place, compared.value)


def _check_pattern(place: Place, pattern: object) -> Iterator[Problem]:
    try:
        if not isinstance(pattern, str):
            raise re.error("it is no text")
        re.compile(pattern)
        slow = is_slow(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        message = f"not a regular expression: {error}"
        hint = "quote it in single quotes, so that YAML leaves backslashes alone"
        yield place.problem("TOOL_CASE_REGEX", message, hint)
        return
    if slow:
        message = "the regular expression takes too long on some short texts"
        hint = "write no repeats inside repeats: ^a+$ instead of ^(a|aa)+$"
        yield place.problem("TOOL_CASE_REGEX_SLOW", message, hint, "warning")
