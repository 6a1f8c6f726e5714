"""MCP over HTTP where each request is by itself."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class Endpoint:
    """Hands requests to the protocol. There is no session that could end."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "DELETE":
            await Response(status_code=200)(scope, receive, send)
            return
        await self._sessions.handle_request(scope, receive, send)
