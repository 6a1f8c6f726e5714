"""The stub's configuration: ``generated/stub/stub_config.json`` read and checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jsonpath
from jsonpath.exceptions import JSONPathError
from jsonschema import Draft202012Validator, SchemaError
from referencing import Registry

from dcf.problem import Problem
from dcf.tools.document import pointer
from dcf.tools.stub.matching import STRATEGIES, Match
from dcf.tools.stub.names import shared_names
from dcf.tools.stub.tool import ERROR_MODES, Case, StubTool

_MAYBE_NUMBER = {"type": ["number", "null"], "minimum": 0}
_CASE = {
    "type": "object",
    "required": ["caseId", "match"],
    "properties": {
        "caseId": {"type": "string", "minLength": 1},
        "match": {
            "type": "object",
            "required": ["strategy"],
            "properties": {
                "strategy": {"enum": list(STRATEGIES)},
                "expr": {"type": ["string", "null"]},
            },
        },
        "latencyMsOverride": _MAYBE_NUMBER,
        "errorMode": {"enum": [None, *ERROR_MODES]},
        "flakyRate": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
        "seed": {"type": ["integer", "null"]},
        "errorCode": {"type": ["string", "null"]},
        "weight": {"type": ["number", "null"]},
    },
}
_TOOL = {
    "type": "object",
    "properties": {
        "description": {"type": ["string", "null"]},
        "paramsSchema": {"type": ["object", "null"]},
        "resultSchema": {"type": ["object", "null"]},
        "rateLimit": {"type": ["object", "null"], "properties": {"rps": _MAYBE_NUMBER}},
        "latencyMs": {"type": ["object", "null"], "properties": {"default": _MAYBE_NUMBER}},
        "cases": {"type": ["array", "null"], "items": _CASE},
    },
}
_SHAPE = Draft202012Validator(
    {
        "type": "object",
        "required": ["servers"],
        "properties": {
            "seed": {"type": "integer"},
            "servers": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "required": ["tools"],
                    "properties": {"tools": {"type": "object", "additionalProperties": _TOOL}},
                },
            },
        },
    }
)


@dataclass(frozen=True)
class StubConfig:
    """Everything the stub serves: ``servers[server_id][tool_name]``."""

    seed: int
    servers: Mapping[str, Mapping[str, StubTool]]

    @cached_property
    def all_tools(self) -> Mapping[str, StubTool]:
        """The tools of all servers under names that are unique among them."""
        return shared_names(tool for tools in self.servers.values() for tool in tools.values())

    def tools(self, server_id: str | None) -> Mapping[str, StubTool]:
        """The tools of one server under their own names, or (``None``) of all."""
        return self.all_tools if server_id is None else self.servers.get(server_id, {})

    @property
    def case_count(self) -> int:
        return sum(len(tool.cases) for tool in self.all_tools.values())


def build_config(document: Any) -> tuple[StubConfig, list[Problem]]:
    """The configuration in a document, and everything that is wrong with it."""
    problems = [
        Problem(
            "TOOL_STUB_SHAPE",
            error.message,
            pointer(error.absolute_path),
            hint="write the file with `dcf skills generate`",
        )
        for error in _SHAPE.iter_errors(document)
    ]
    if problems:
        return StubConfig(0, {}), problems
    servers = {
        server_id: {
            name: _tool(server_id, name, entry, problems) for name, entry in server["tools"].items()
        }
        for server_id, server in document["servers"].items()
    }
    return StubConfig(document.get("seed", 0), servers), problems


def _tool(server_id: str, name: str, entry: Mapping[str, Any], problems: list[Problem]) -> StubTool:
    path = pointer(["servers", server_id, "tools", name])
    params_schema = {"type": "object", **(entry.get("paramsSchema") or {})}
    result_schema = entry.get("resultSchema") or None
    cases = [
        _case(case, f"{path}/cases/{index}", problems)
        for index, case in enumerate(entry.get("cases") or [])
    ]
    _check_ids(cases, path, problems)
    return StubTool(
        server_id=server_id,
        name=name,
        description=entry.get("description") or "",
        params_schema=params_schema,
        result_schema=result_schema,
        params=_validator(params_schema, f"{path}/paramsSchema", problems),
        result=_validator(result_schema, f"{path}/resultSchema", problems)
        if result_schema
        else None,
        default_response=entry.get("defaultResponse"),
        rps=(entry.get("rateLimit") or {}).get("rps") or 0,
        latency_ms=(entry.get("latencyMs") or {}).get("default") or 0,
        # The sort is stable: cases of equal weight are tried in the order of the file.
        cases=tuple(sorted(cases, key=lambda case: -case.weight)),
    )


def _validator(schema: dict[str, Any], path: str, problems: list[Problem]) -> Draft202012Validator:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        problems.append(
            Problem(
                "TOOL_STUB_SCHEMA",
                error.message,
                path + pointer(error.absolute_path),
                hint="correct the schema in the tool's file, then run `dcf skills generate`",
            )
        )
    # An empty registry: a $ref to another document must not be fetched from the network.
    return Draft202012Validator(schema, registry=Registry())


def _case(entry: Mapping[str, Any], path: str, problems: list[Problem]) -> Case:
    rate = entry.get("flakyRate")
    return Case(
        case_id=entry["caseId"],
        match=_match(entry["match"], f"{path}/match", problems),
        response=_response(entry),
        latency_ms=entry.get("latencyMsOverride"),
        error_mode=entry.get("errorMode"),
        flaky_rate=0.1 if rate is None else rate,
        seed=entry.get("seed"),
        error_code=entry.get("errorCode"),
        weight=entry.get("weight") or 0,
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
    except json.JSONDecodeError:
        return template


def _match(entry: Mapping[str, Any], path: str, problems: list[Problem]) -> Match:
    query = pattern = None
    try:
        if entry.get("expr") is not None:
            query = jsonpath.compile(entry["expr"])
    except JSONPathError as error:
        problems.append(
            Problem(
                "TOOL_STUB_EXPR",
                f"not a JSONPath: {error}",
                f"{path}/expr",
                hint="write a path such as $.items[0].sku",
            )
        )
    if entry["strategy"] == "regex":
        try:
            pattern = re.compile(str(entry.get("value", "")))
        except re.error as error:
            problems.append(
                Problem(
                    "TOOL_STUB_REGEX",
                    f"not a regular expression: {error}",
                    f"{path}/value",
                    hint="correct the regular expression",
                )
            )
    # jsonpath.compile may also give a compound path, which has the same findall.
    return Match(entry["strategy"], query, entry.get("value"), pattern)  # type: ignore[arg-type]


def _check_ids(cases: list[Case], path: str, problems: list[Problem]) -> None:
    seen: set[str] = set()
    for index, case in enumerate(cases):
        if case.case_id in seen:
            problems.append(
                Problem(
                    "TOOL_STUB_CASE_TWICE",
                    f"two cases of this tool are called {case.case_id!r}",
                    f"{path}/cases/{index}/caseId",
                    "hits are counted by case: give each its own id",
                )
            )
        seen.add(case.case_id)
