"""The rehearsal model: walks through a task as declared, without any intelligence.

It takes its turns on the same loop as a real model and remembers nothing between them: each time
it reads from the messages how far the task has come, and says what is next.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic_ai import ToolDefinition
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    TextContent,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from dcf.agents.assignment import JSON
from dcf.agents.binding import Unbound, bind
from dcf.agents.offer import REPORT_FAILURE, REPORT_RESULT
from dcf.agents.task_error import UNBOUND_ARGUMENT

REHEARSAL = "rehearsal"
REHEARSED = "rehearsed_requests"
_NAMES_SHOWN = 20
_Part = TypeVar("_Part", bound=ModelRequestPart)


def rehearsal_model() -> FunctionModel:
    """A model that calls the required tools in declared order and reports what they returned."""
    return FunctionModel(_take_turn, model_name=REHEARSAL)


async def _take_turn(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    plan = [tool for tool in info.function_tools if _noted(tool)["required"]]
    returns = list(_parts(messages, ToolReturnPart))
    if returns and returns[-1].metadata is not None:
        error = returns[-1].metadata["error"]
        return _say(REPORT_FAILURE, {"error": error["code"], "cause": error["message"]}, "end")
    results = [part.content for part in returns]
    if len(results) < len(plan):
        return _next_call(plan[len(results)], _task_input(messages), results)
    return _say(REPORT_RESULT, _result(plan, results, _task_input(messages)), "end")


def _next_call(tool: ToolDefinition, task_input: JSON, results: Sequence[JSON]) -> ModelResponse:
    binding = bind(tool.parameters_json_schema, [task_input, *reversed(results)])
    if binding.missing:
        cause = _unbound(_noted(tool)["key"], binding.missing, task_input)
        return _say(REPORT_FAILURE, {"error": UNBOUND_ARGUMENT, "cause": cause}, "end")
    return _say(tool.name, binding.arguments, str(len(results) + 1))


def _result(
    plan: Sequence[ToolDefinition], results: Sequence[JSON], task_input: JSON
) -> dict[str, JSON]:
    keys = [_noted(tool)["key"] for tool in plan]
    sole = bool(plan) and _noted(plan[0])["sole"]
    data = results[0] if sole else dict(zip(keys, results, strict=True))
    return {"data": data, "summary": _summary(keys, _assumed(plan, results, task_input))}


def _assumed(
    plan: Sequence[ToolDefinition], results: Sequence[JSON], task_input: JSON
) -> Iterator[str]:
    """In words what was given to tools under another name."""
    for at, tool in enumerate(plan):
        sources = [task_input, *reversed(results[:at])]
        for argument, name in bind(tool.parameters_json_schema, sources).assumed:
            yield f"; took {name!r} for {argument!r} of {_noted(tool)['key']}"


def _summary(keys: Sequence[str], assumed: Iterator[str]) -> str:
    if not keys:
        return "Rehearsal: called no tools (none is required); no model was used"
    tools = "1 tool" if len(keys) == 1 else f"{len(keys)} tools"
    called = f"Rehearsal: called {tools} ({', '.join(keys)})"
    return f"{called}{''.join(assumed)}; no model was used"


def _unbound(tool: str, missing: Sequence[Unbound], task_input: JSON) -> str:
    wanted = ", ".join(f"{unbound.name!r} ({unbound.type})" for unbound in missing)
    if not isinstance(task_input, dict):
        had = f"the task's input is {json.dumps(task_input)[:80]}, not an object"
    elif not task_input:
        had = "the task's input is an empty object"
    else:
        names = sorted(task_input)
        more = ", …" if len(names) > _NAMES_SHOWN else ""
        had = f"the task's input has {', '.join(names[:_NAMES_SHOWN])}{more}"
    return (
        f"rehearsal found no value for {wanted} of tool {tool!r}: {had}; nothing of that name and "
        "type is there, nested in it, or in the results of earlier tools"
    )


def _task_input(messages: Sequence[ModelMessage]) -> JSON:
    prompt = next(_parts(messages, UserPromptPart))
    last = prompt.content[-1]
    return json.loads(last.content if isinstance(last, TextContent) else str(last))


def _parts(messages: Sequence[ModelMessage], kind: type[_Part]) -> Iterator[_Part]:
    for message in messages:
        if isinstance(message, ModelRequest):
            yield from (part for part in message.parts if isinstance(part, kind))


def _noted(tool: ToolDefinition) -> dict[str, Any]:
    return tool.metadata or {"key": tool.name, "required": False, "sole": False}


def _say(tool: str, arguments: dict[str, JSON], number: str) -> ModelResponse:
    call = ToolCallPart(tool, arguments, tool_call_id=f"{REHEARSAL}-{number}")
    # A count of its own, so that the library does not estimate tokens nobody spent.
    return ModelResponse(parts=[call], usage=RequestUsage(details={REHEARSED: 1}))
