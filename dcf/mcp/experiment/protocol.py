"""The operations as tools of an MCP server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from mcp_types import Tool as WireTool

from dcf.mcp.experiment.calls import CALLS, answer
from dcf.mcp.experiment.desk import ExperimentDesk
from dcf.mcp.stdio import serve_on_stdio
from dcf.memory import ExperimentMemory

_INSTRUCTIONS = (
    "The memory of an experiment that searches a tree of ideas. A node reads what its ancestors "
    "remembered: pass their ids. It writes to itself alone. What fails answers {ok: false, error}."
)
Context = ServerRequestContext[Any, Any]


def create_experiment_protocol(desk: ExperimentDesk, *, version: str) -> Server[Any]:
    """The MCP server for callers of whom each request is by itself."""

    def caller(context: Context) -> ExperimentMemory:
        return desk.experiment(None if context.request is None else context.request.headers)

    return _protocol(caller, version, of_caller=False)


async def serve_experiment_stdio(desk: ExperimentDesk, *, version: str) -> bool:
    """Serve one client on standard input and output, which can say in which node it works; whether
    it closed them, as ``serve_on_stdio`` says."""
    experiment = desk.experiment()
    return await serve_on_stdio(_protocol(lambda _: experiment, version, of_caller=True))


def _protocol(
    caller: Callable[[Context], ExperimentMemory], version: str, *, of_caller: bool
) -> Server[Any]:
    calls = {name: one for name, one in CALLS.items() if of_caller or not one.operation.of_caller}

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        tools = [
            WireTool(name=one.name, description=one.description, input_schema=one.schema)
            for one in calls.values()
        ]
        return ListToolsResult(tools=tools)

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        given: Mapping[str, Any] = params.arguments or {}
        done = await answer(calls, caller(context), params.name, given)
        return CallToolResult(
            content=[TextContent(text=done.text)],
            structured_content=done.fields,
            is_error=done.fields.get("ok") is False,
        )

    return Server[Any](
        "dcf-experiment",
        version=version,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # No tool maps arguments to HTTP headers; without this each call would list all tools.
        get_tool_input_schema=lambda _name: None,
    )
