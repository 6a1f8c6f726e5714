"""The server's HTTP application: ``/mcp``, ``/mcp/{role}`` and ``/healthz``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dcf.agents import meanwhile
from dcf.mcp.first_session import FirstSession
from dcf.mcp.health import health
from dcf.mcp.platform import Platform
from dcf.mcp.protocol import create_protocol
from dcf.mcp.roles import ROLES, Role
from dcf.mcp.session_watch import watch_sessions
from dcf.tools.serving import Door, Guard

MOST_BYTES = 20 * 1024 * 1024
"""A request body is at most so large: an output of 16 MiB fits in."""


def create_app(
    platform: Platform, guard: Guard, *, role: Role | None = None, version: str = "0"
) -> Starlette:
    """The application over ``platform``, which stays its owner's to close.

    Every request is served by itself, whatever session its client believes to be in: so any of
    several servers can serve it, before and after a restart. Sessions that are due are looked at
    meanwhile: there may be no companion process.
    """
    sessions = StreamableHTTPSessionManager(
        create_protocol(platform, role=role, version=version),
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_BYTES,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run(), meanwhile(watch_sessions(platform)):
            yield

    async def healthz(_request: Request) -> JSONResponse:
        found = await health(platform)
        return JSONResponse(found, status_code=200 if found["status"] == "ok" else 503)

    endpoint = McpEndpoint(sessions)
    return Starlette(
        routes=[
            Route("/mcp", endpoint),
            Route("/mcp/{role}", endpoint),
            Route("/healthz", healthz, methods=["GET"]),
        ],
        middleware=[Middleware(Door, guard=guard), Middleware(FirstSession)],
        lifespan=lifespan,
    )


class McpEndpoint:
    """Hands a request to the protocol, unless it names a role that does not exist."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        named = request.path_params.get("role") or request.query_params.get("role")
        if named is not None and named not in ROLES:
            body = {"status": None, "error": f"unknown_role: {named[:50]!r}", "roles": ROLES}
            await JSONResponse(body, status_code=404)(scope, receive, send)
            return
        if scope["method"] == "DELETE":
            # The end of a session that there never was.
            await Response(status_code=200)(scope, receive, send)
            return
        await self._sessions.handle_request(scope, receive, send)
