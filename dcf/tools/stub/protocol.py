"""The stub as an MCP server: one view on each tool server, and one on all of them."""

from __future__ import annotations

from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ContentBlock,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dcf.tools.meta import FENCE, IDEMPOTENCY_KEY, UNAVAILABLE
from dcf.tools.stub.answer import Answer, Call, failure
from dcf.tools.stub.desk import Desk, Stopping
from dcf.tools.stub.matching import json_text
from dcf.tools.stub.tool import StubTool

Context = ServerRequestContext[Any, Any]


def create_protocol(desk: Desk) -> Server[Any]:
    """The MCP server over a desk. The tools that a request sees follow from its path."""

    async def list_tools(
        context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        tools = desk.catalog.current().tools(_server_id(context))
        return ListToolsResult(tools=[_listed(name, tool) for name, tool in tools.items()])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        config, server_id = desk.catalog.current(), _server_id(context)
        tool = config.find(server_id, params.name)
        if tool is None:
            known = ", ".join(config.tools(server_id)) or "none"
            answer = failure("UnknownTool", f"no tool {params.name!r} here; there is: {known}")
        else:
            answer = await _answered(desk, tool, _call(params))
        return _result(answer, modern=context.protocol_version in MODERN_PROTOCOL_VERSIONS)

    return Server(
        "dcf-stub",
        version="1",
        instructions="Deterministic stand-ins for the tools of this project.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        # No tool maps arguments to HTTP headers; without this each call would list all tools.
        get_tool_input_schema=lambda _name: None,
    )


async def _answered(desk: Desk, tool: StubTool, call: Call) -> Answer:
    try:
        return await desk.answer(tool, call)
    except Stopping:
        # An error of the protocol: a result would say that the tool itself had failed.
        message = "the stub is stopping"
        raise MCPError(INTERNAL_ERROR, message, data={UNAVAILABLE: True}) from None


def _server_id(context: Context) -> str | None:
    """The ``{server_id}`` of the request's path, ``None`` on the path that serves all."""
    request = context.request
    server_id = None if request is None else request.path_params.get("server_id")
    return server_id if isinstance(server_id, str) else None


def _listed(name: str, tool: StubTool) -> Tool:
    schema = tool.result_schema
    # Older protocol versions allow only object schemas here, so others are not announced.
    output = schema if schema is not None and schema.get("type") == "object" else None
    return Tool(
        name=name,
        description=tool.description,
        input_schema=tool.params_schema,
        output_schema=output,
        annotations=ToolAnnotations(idempotent_hint=True) if tool.idempotent else None,
    )


def _call(params: CallToolRequestParams) -> Call:
    meta: dict[str, Any] = dict(params.meta or {})
    key, fence = meta.get(IDEMPOTENCY_KEY), meta.get(FENCE)
    return Call(
        arguments=params.arguments or {},
        idempotency_key=key if isinstance(key, str) else None,
        fence=fence if isinstance(fence, int) and not isinstance(fence, bool) else None,
    )


def _result(answer: Answer, *, modern: bool) -> CallToolResult:
    """Text for every client; the value itself too, where the protocol can carry its type."""
    data = answer.data
    content: list[ContentBlock] = [
        TextContent(text=data if isinstance(data, str) else json_text(data))
    ]
    is_error = answer.error is not None
    if modern or isinstance(data, dict):
        return CallToolResult(content=content, structured_content=data, is_error=is_error)
    return CallToolResult(content=content, is_error=is_error)
