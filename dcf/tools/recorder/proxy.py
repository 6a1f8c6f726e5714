"""The proxy: an MCP server that passes every call on and keeps what came back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dcf.tools.errors import ToolTimeout, ToolUnavailable
from dcf.tools.meta import FENCE, IDEMPOTENCY_KEY, UNAVAILABLE
from dcf.tools.recorder.recording import Recorded, Recording
from dcf.tools.recorder.wrapping import wrapped, wraps
from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.serving import Door, Guard
from dcf.tools.toolbox import Toolbox

CALL_LIMIT_S = 120.0
"""When a call that the real server does not answer is given up, and recorded as one that hangs."""

Context = ServerRequestContext[Any, Any]


class Proxy:
    """Stands in front of one server.

    ``new_key`` makes the idempotency keys of calls that bring none. ``on_news`` is called after
    each answer that says something new.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        server_id: str,
        recording: Recording,
        *,
        new_key: Callable[[], str],
        on_news: Callable[[], None],
        limit_s: float = CALL_LIMIT_S,
    ) -> None:
        self.server_id = server_id
        self.recording = recording
        self._toolbox = toolbox
        self._new_key = new_key
        self._on_news = on_news
        self._limit_s = limit_s

    async def list_tools(self) -> list[ToolDescription]:
        """The server's tools as it lists them now. Raises ``ToolUnavailable``, ``ToolTimeout``."""
        tools = await self._toolbox.list_tools(self.server_id)
        self.recording.describe(tools)
        return tools

    async def call(self, name: str, arguments: dict[str, Any], meta: dict[str, Any]) -> ToolResult:
        """The server's answer, kept. A call that never came through is not: ``ToolUnavailable``."""
        key, fence = meta.get(IDEMPOTENCY_KEY), meta.get(FENCE)
        try:
            result = await self._toolbox.call(
                self.server_id,
                name,
                arguments,
                idempotency_key=key if isinstance(key, str) else self._new_key(),
                fence=fence if isinstance(fence, int) else 0,
                timeout_s=self._limit_s,
            )
        except ToolTimeout as error:
            self._keep(name, arguments, Recorded(hung=True))
            told = {"code": ToolTimeout.code, "message": str(error)}
            return ToolResult(told, str(error), True, ToolTimeout.code)
        self._keep(name, arguments, Recorded.of(result))
        return result

    def _keep(self, name: str, arguments: dict[str, Any], answer: Recorded) -> None:
        if name in self.recording.tools and self.recording.note(name, arguments, answer):
            self._on_news()


def create_recorder_app(proxy: Proxy, *, token: str | None = None) -> Starlette:
    """The proxy at ``/mcp``, and its ``/healthz``; ``token`` is asked of every request."""
    sessions = StreamableHTTPSessionManager(_protocol(proxy))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    async def healthz(_request: Request) -> JSONResponse:
        counts = {"tools": len(proxy.recording.tools), "calls": proxy.recording.calls}
        return JSONResponse({"status": "ok", "error": None, "server": proxy.server_id, **counts})

    return Starlette(
        routes=[
            Route("/healthz", healthz, methods=["GET"]),
            Route("/mcp", _Endpoint(sessions)),
            Route(f"/mcp/{proxy.server_id}", _Endpoint(sessions)),
        ],
        middleware=[Middleware(Door, guard=Guard.asking(token))],
        lifespan=lifespan,
    )


class _Endpoint:
    """What Starlette takes for an application, not for a function of a request."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sessions.handle_request(scope, receive, send)


def _protocol(proxy: Proxy) -> Server[Any]:
    async def list_tools(
        _context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        try:
            tools = await proxy.list_tools()
        except (ToolUnavailable, ToolTimeout) as error:
            raise _gone(error) from None
        return ListToolsResult(tools=[_listed(tool) for tool in tools])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            result = await proxy.call(params.name, params.arguments or {}, dict(params.meta or {}))
        except ToolUnavailable as error:
            raise _gone(error) from None
        known = proxy.recording.tools.get(params.name)
        if not result.is_error and known is not None and wraps(known.output_schema):
            result = replace(result, data=wrapped(result.data))
        return _passed(result, modern=context.protocol_version in MODERN_PROTOCOL_VERSIONS)

    return Server(
        "dcf-recorder",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=lambda _name: None,
    )


def _gone(error: Exception) -> MCPError:
    return MCPError(INTERNAL_ERROR, str(error), data={UNAVAILABLE: True})


def _listed(tool: ToolDescription) -> Tool:
    output = tool.output_schema
    return Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=output if output and output.get("type") == "object" else None,
    )


def _passed(result: ToolResult, *, modern: bool) -> CallToolResult:
    structured = result.data if modern or isinstance(result.data, dict) else None
    return CallToolResult(
        content=[TextContent(text=result.text)],
        structured_content=structured,
        is_error=result.is_error,
    )
