"""The stub's HTTP application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dcf.tools.serving import Door, Guard
from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.desk import Desk
from dcf.tools.stub.inspection import inspection_routes
from dcf.tools.stub.pacing import Sleep
from dcf.tools.stub.protocol import create_protocol

DEFAULT_PATH = "/mcp"


def create_stub_app(
    config_path: Path,
    *,
    seed: int | None = None,
    token: str | None = None,
    mcp_path: str = DEFAULT_PATH,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> Starlette:
    """The application that serves a stub configuration.

    All servers together are at ``mcp_path``, each alone at ``{mcp_path}/{server}``. ``seed``
    overrides the configuration's own; ``token`` is asked of every request when it is given.
    ``app.state.desk`` is the stub behind it. Raises ``InvalidDocument`` when the configuration is
    missing or wrong.
    """
    mcp_path = "/" + mcp_path.strip("/")
    desk = Desk(Catalog(config_path), seed=seed, clock=clock, monotonic=monotonic, sleep=sleep)
    # One JSON answer for each call: an event stream that carries nothing else costs a third more.
    sessions = StreamableHTTPSessionManager(create_protocol(desk), json_response=True)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    app = Starlette(
        routes=[
            *inspection_routes(desk),
            Route(mcp_path, McpEndpoint(desk, sessions)),
            Route(mcp_path.rstrip("/") + "/{server_id}", McpEndpoint(desk, sessions)),
        ],
        middleware=[Middleware(Door, guard=Guard.asking(token))],
        lifespan=lifespan,
    )
    app.state.desk = desk
    return app


class McpEndpoint:
    """Hands a request to the protocol, unless its path names a server that does not exist."""

    def __init__(self, desk: Desk, sessions: StreamableHTTPSessionManager) -> None:
        self._desk = desk
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        server_id = scope["path_params"].get("server_id")
        servers = self._desk.catalog.current().servers
        if server_id is not None and server_id not in servers:
            body = {"error": f"no server {server_id!r} here", "servers": sorted(servers)}
            await JSONResponse(body, status_code=404)(scope, receive, send)
            return
        await self._sessions.handle_request(scope, receive, send)
