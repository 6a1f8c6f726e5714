"""Using the tools of loaded skills through the platform's gate."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dcf.mcp.envelope import Envelope, Refused
from dcf.mcp.help import Obvious
from dcf.mcp.kinds import Owner, RunId, StatePath
from dcf.mcp.platform import Platform
from dcf.mcp.skill_calls import DEFAULT_TIMEOUT_S, Order, call_for_agent, call_under_lease
from dcf.mcp.tool import tool
from dcf.tools import ToolResult

_LONGEST_ID = 128


class Called(Envelope, total=False):
    """What a tool answered."""

    tool: Annotated[str, Field(description="The tool that was asked for.")]
    is_error: Annotated[bool, Field(description="Whether the tool itself reports an error.")]
    data: Annotated[Any, Field(description="Its result; a large one as {$ref, size, preview}.")]
    text: Annotated[str, Field(description="Its result as text.")]
    error_name: Annotated[
        str | None, Field(description="What to fail the state with, if this is fatal.")
    ]
    call_id: Annotated[str, Field(description="Id of this call, to repeat it.")]
    approval: Annotated[
        dict[str, Any], Field(description="What somebody is asked, where approval is needed.")
    ]


@tool("worker", "companion", limit_s=660, strict=True)
async def call_skill_tool(
    platform: Platform,
    agent_id: Owner,
    tool: Annotated[str, "server:tool, or its name, of a loaded skill."],
    arguments_json: Annotated[
        dict[str, Any] | None, Obvious("Arguments by the tool's schema.")
    ] = None,
    workflow_id: Annotated[RunId | None, Obvious("Run, when under a lease.")] = None,
    state: Annotated[StatePath | None, Obvious("State, when under a lease.")] = None,
    lease_token: Annotated[str | None, Obvious("Token of that lease.")] = None,
    call_id: Annotated[str | None, "The same again is the same call, answered as before."] = None,
    timeout_s: Annotated[float, Obvious("Seconds."), Field(gt=0, le=600)] = DEFAULT_TIMEOUT_S,
) -> Called:
    """Call a tool of a skill you loaded. Permissions, budget and approval are checked, the decision
    is recorded; with workflow_id, state and lease_token as work of that state."""
    if call_id is not None and not 1 <= len(call_id) <= _LONGEST_ID:
        raise Refused("bad_arguments", f"call_id has 1 to {_LONGEST_ID} characters")
    order = Order(agent_id, tool, arguments_json or {}, timeout_s, call_id or platform.new_id())
    under = (workflow_id, state, lease_token)
    if any(under):
        if workflow_id is None or state is None or not lease_token:
            raise Refused("bad_arguments", "workflow_id, state and lease_token belong together")
        result = await call_under_lease(platform, order, workflow_id, state, lease_token)
    else:
        result = await call_for_agent(platform, order)
    return _answer(order, result)


def _answer(order: Order, result: ToolResult) -> Called:
    answer: Called = {
        "status": "called",
        "tool": order.tool,
        "call_id": order.call_id,
        "is_error": result.is_error,
        "data": result.data,
        "text": result.text,
        "error_name": result.error if result.is_error else None,
    }
    if result.is_error:
        answer["error"] = f"tool_error: {result.error or 'DCF.ToolError'}: {result.text[:500]}"
    return answer


FAMILY = (call_skill_tool,)
