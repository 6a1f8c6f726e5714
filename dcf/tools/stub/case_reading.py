"""One case of a configuration: its condition and its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import jsonpath
from jsonpath.exceptions import JSONPathError

from dcf.problem import Problem
from dcf.tools.stub.argument_path import ArgumentPath, read_path
from dcf.tools.stub.expected import expected_value, json_types
from dcf.tools.stub.matching import Match, Query
from dcf.tools.stub.tool import Case, Reply


def read_case(
    entry: Mapping[str, Any],
    path: str,
    params_schema: Mapping[str, Any],
    problems: list[Problem],
    *,
    earlier: bool,
) -> Case:
    """The case in ``entry``, which has the right shape; ``path`` is its place in the file.

    ``earlier``: it comes from the earlier generator, which wrote every value as text.
    """
    sequence = entry.get("sequence") or {}
    steps = sequence.get("steps") or [entry]
    return Case(
        case_id=entry["caseId"],
        match=_match(entry["match"], f"{path}/match", params_schema, problems, earlier),
        replies=tuple(_reply(step) for step in steps),
        cycles=sequence.get("then") == "cycle",
        weight=entry.get("weight") or 0,
        arguments=entry.get("arguments"),
    )


def _reply(entry: Mapping[str, Any]) -> Reply:
    rate = entry.get("flakyRate")
    return Reply(
        response=_response(entry),
        latency_ms=entry.get("latencyMsOverride"),
        error_mode=entry.get("errorMode"),
        flaky_rate=0.1 if rate is None else rate,
        error_code=entry.get("errorCode"),
        seed=entry.get("seed"),
    )


def _response(entry: Mapping[str, Any]) -> Any:
    """``response``, or ``responseTemplate``: JSON where it is JSON, else plain text."""
    template = entry.get("responseTemplate")
    if entry.get("response") is not None or template is None:
        return entry.get("response")
    if not isinstance(template, str):
        return template
    try:
        return json.loads(template)
    except (ValueError, RecursionError):
        return template


def _match(
    entry: Mapping[str, Any],
    path: str,
    params_schema: Mapping[str, Any],
    problems: list[Problem],
    earlier: bool,
) -> Match:
    strategy, value = entry["strategy"], entry.get("value")
    query = _query(entry.get("expr"), f"{path}/expr", problems)
    if strategy == "regex":
        return Match(strategy, query, value, _pattern(value, f"{path}/value", problems))
    place = query if isinstance(query, ArgumentPath) else None
    typed = place is not None and bool(json_types(place.schema_in(params_schema)))
    as_text = earlier and not typed and isinstance(value, str) and strategy in ("exact", "jsonpath")
    return Match(
        strategy, query, expected_value(value, strategy, place, params_schema), as_text=as_text
    )


def _query(expr: str | None, path: str, problems: list[Problem]) -> Query | None:
    if expr is None:
        return None
    simple = read_path(expr)
    if simple is not None:
        return simple
    try:
        return jsonpath.compile(expr)
    except JSONPathError as error:
        hint = "write a path such as $.items[0].sku"
        problems.append(Problem("TOOL_STUB_EXPR", f"not a JSONPath: {error}", path, hint))
        return None


def _pattern(value: Any, path: str, problems: list[Problem]) -> re.Pattern[str]:
    try:
        return re.compile(str(value if value is not None else ""))
    except (re.error, OverflowError, RecursionError) as error:
        hint = "correct the regular expression"
        problems.append(
            Problem("TOOL_STUB_REGEX", f"not a regular expression: {error}", path, hint)
        )
        return re.compile("")
