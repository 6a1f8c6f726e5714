"""The stub's configuration: ``generated/stub/stub_config.json`` read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dcf.problem import Problem
from dcf.schema import ACCEPTS_ALL, Schema, SchemaUnusable, schema_of
from dcf.tools.document import pointer
from dcf.tools.stub.case_reading import read_case
from dcf.tools.stub.config_shape import SHAPE
from dcf.tools.stub.names import called_names, shared_names
from dcf.tools.stub.tool import Case, StubTool


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

    def find(self, server_id: str | None, name: str) -> StubTool | None:
        """The tool that a call of ``name`` means: one that is listed, or by another name of it."""
        listed = self.tools(server_id).get(name)
        return listed if listed is not None else self._called(server_id).get(name)

    def _called(self, server_id: str | None) -> Mapping[str, StubTool]:
        if server_id not in self._other_names:
            self._other_names[server_id] = called_names(self.tools(server_id), server_id)
        return self._other_names[server_id]

    @cached_property
    def _other_names(self) -> dict[str | None, Mapping[str, StubTool]]:
        return {}

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
        for error in SHAPE.iter_errors(document)
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
    original_name = (entry.get("meta") or {}).get("originalToolName")
    earlier = original_name is not None
    cases = [
        read_case(case, f"{path}/cases/{index}", params_schema, problems, earlier=earlier)
        for index, case in enumerate(entry.get("cases") or [])
    ]
    if not earlier:
        _check_ids(cases, path, problems)
    params = _schema(params_schema, f"{path}/paramsSchema", problems)
    result_path = f"{path}/resultSchema"
    result = _schema(result_schema, result_path, problems) if result_schema else None
    if earlier and result and not _all_fit(result, entry.get("defaultResponse"), cases):
        # The earlier stub compared no answer with the schema, so it must not forbid any now.
        result_schema = result = None
    return StubTool(
        server_id=server_id,
        name=name,
        description=entry.get("description") or "",
        params_schema=params_schema,
        result_schema=result_schema,
        params=params,
        result=result,
        default_response=entry.get("defaultResponse"),
        rps=(entry.get("rateLimit") or {}).get("rps") or 0,
        latency_ms=(entry.get("latencyMs") or {}).get("default") or 0,
        # The sort is stable: cases of equal weight are tried in the order of the file.
        cases=tuple(sorted(cases, key=lambda case: -case.weight)),
        original_name=original_name,
        idempotent=bool(entry.get("idempotent")),
    )


def _all_fit(result: Schema, default: Any, cases: list[Case]) -> bool:
    """Whether every answer is one that the schema allows, its placeholders taken as text."""
    replies = [reply for case in cases for reply in case.replies]
    answers = [reply.response for reply in replies if reply.error_mode in (None, "flaky")]
    try:
        return all(result.fits(answer) for answer in [default, *answers])
    except SchemaUnusable:
        return False


def _schema(schema: dict[str, Any], path: str, problems: list[Problem]) -> Schema:
    try:
        return schema_of(schema)
    except SchemaUnusable as unusable:
        problems.append(
            Problem(
                "TOOL_STUB_SCHEMA",
                str(unusable),
                path + pointer(unusable.path),
                hint="correct the schema in the tool's file, then run `dcf skills generate`",
            )
        )
    return ACCEPTS_ALL


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
