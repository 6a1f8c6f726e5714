"""Tools as their real servers listed them (``dcf skills lock``): what the stub has to announce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcf.problem import Problem
from dcf.skills.authoring.answer import check_answer
from dcf.skills.authoring.arguments import check_arguments
from dcf.skills.authoring.case_response import answers
from dcf.skills.authoring.place import Place
from dcf.skills.authoring.tool_index import ToolSource

_CODES = {
    "TOOL_ANSWER_MISMATCH": "LOCK_CASE_ANSWER",
    "TOOL_ARGUMENTS_MISMATCH": "LOCK_CASE_ARGUMENTS",
}


@dataclass(frozen=True, slots=True)
class LockedTool(ToolSource):
    """A tool with the schemas of its server instead of the authored ones."""

    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None

    @property
    def params(self) -> dict[str, Any]:
        return self.input_schema

    @property
    def result(self) -> dict[str, Any]:
        """As authored answers are written: servers built with the Python SDK wrap what is no object
        as ``{"result": x}``, and everybody takes ``x`` out."""
        return _inner(self.output_schema or {})


def locked_tool(tool: ToolSource, pins: Mapping[str, Any]) -> ToolSource:
    """``tool`` with the schemas that ``pins`` (``tools`` of tools.lock.json) have of it, if any."""
    pin = pins.get(tool.ref)
    if pin is None:
        return tool
    return LockedTool(
        tool.server_id, tool.name, tool.place, pin["inputSchema"], pin["outputSchema"]
    )


def check_locked(tool: LockedTool) -> Iterator[Problem]:
    """Warnings for authored cases that do not fit the schemas of the server."""
    default = tool.place.inside("defaults", "response")
    for place, value in [(default, default.value)] if default else []:
        yield from _warnings(check_answer(place, value, tool))
    for case in tool.cases():
        arguments = case.member("arguments")
        if arguments:
            yield from _warnings(check_arguments(arguments, arguments.value, tool))
        for place, value in _answers(case):
            yield from _warnings(check_answer(place, value, tool))


def _answers(case: Place) -> Iterator[tuple[Place, Any]]:
    steps = case.inside("sequence", "steps")
    for place in steps.elements() if steps else (case,):
        yield from answers(place)


def _warnings(problems: Iterator[Problem]) -> Iterator[Problem]:
    hint = "the real server lists it so (tools.lock.json): write the case as it would answer"
    for problem in problems:
        if problem.code in _CODES:
            yield Problem(
                _CODES[problem.code],
                problem.message,
                problem.path,
                hint,
                "warning",
                file=problem.file,
                line=problem.line,
                column=problem.column,
            )


def _inner(schema: dict[str, Any]) -> dict[str, Any]:
    members = schema.get("properties")
    if not isinstance(members, dict) or set(members) != {"result"}:
        return schema
    inner = members["result"] if isinstance(members["result"], dict) else {}
    return {**{name: schema[name] for name in ("$defs",) if name in schema}, **inner}
