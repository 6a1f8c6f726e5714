"""Small skills, assignments and tool servers for the specifications of dcf.agents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dcf.agents import Assignment, LocalRuntime, Report, TurnEvent
from dcf.skills import Manifest, Permissions, SkillTool
from dcf.tools import ToolResult


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def a_tool(
    name: str,
    input_schema: dict[str, Any] | None = None,
    *,
    server: str = "web",
    required: bool = True,
    on_server: str | None = None,
) -> SkillTool:
    return SkillTool(
        server_id=server,
        tool_name=on_server or name,
        name=name,
        description=f"does {name}",
        required=required,
        input_schema=input_schema or schema(),
    )


def a_skill(name: str, *tools: SkillTool, directives: str = "Be exact.") -> Manifest:
    content = json.dumps([name, directives, [repr(tool) for tool in tools]])
    return Manifest(
        manifest_id=f"skill.{name}@1.0.0",
        name=name,
        version="1.0.0",
        description=f"{name} for tests",
        directives=directives,
        tags=(),
        permissions=Permissions(),
        tools=tools,
        data_sources=(),
        dependencies=(),
        package_id=None,
        digest="sha256:" + hashlib.sha256(content.encode()).hexdigest(),
        raw={},
    )


def an_assignment(
    *skills: Manifest,
    task_input: Any = None,
    tool_name: str | None = None,
    instructions: str = "",
    state: str = "Research",
) -> Assignment:
    return Assignment(
        state=state,
        instructions=instructions,
        input={} if task_input is None else task_input,
        skills=skills,
        tool_name=tool_name,
    )


class StepClock:
    """Advances by ``step`` seconds at every look."""

    def __init__(self, step: float = 0.25) -> None:
        self.now = 1000.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


Answer = Callable[[dict[str, Any]], Any]


@dataclass
class ToolServer:
    """Answers calls by tool name and records them; an exception as answer is raised."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, tool: SkillTool, arguments: dict[str, Any]) -> ToolResult:
        self.calls.append((tool.name, arguments))
        answer = self.answers.get(tool.name, {"tool": tool.name})
        if callable(answer):
            answer = answer(arguments)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ToolResult):
            return answer
        return ToolResult(data=answer, text=json.dumps(answer))


def failed(code: str, message: str = "no luck") -> ToolResult:
    data = {"code": code, "message": message}
    return ToolResult(data=data, text=json.dumps(data), is_error=True, error=code)


def unwatched(event: TurnEvent) -> None:
    """An observer that looks away."""


async def rehearse(assignment: Assignment, server: ToolServer) -> Report:
    return await LocalRuntime(clock=StepClock()).perform(assignment, server, unwatched)
