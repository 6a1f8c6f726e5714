"""The graph's server over HTTP: ``/mcp/`` for clients, ``/health`` for those who look after it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from control_plane import ControlPlaneError
from dcf.knowledge import KnowledgeError
from dcf.mcp.first_session import FirstSession
from dcf.mcp.graph.desk import GraphDesk
from dcf.mcp.graph.protocol import create_graph_protocol
from dcf.tools.serving import Door, Guard

_MOST_BYTES = 2 * 1024 * 1024


def create_graph_app(desk: GraphDesk, guard: Guard, *, version: str = "0") -> Starlette:
    """The application over ``desk``, which stays its owner's to close. Health needs no token."""
    sessions = StreamableHTTPSessionManager(
        create_graph_protocol(desk, version=version),
        json_response=True,
        stateless=True,
        max_request_body_size=_MOST_BYTES,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    async def health(_request: Request) -> JSONResponse:
        found = await graph_health(desk)
        return JSONResponse(found, status_code=200 if found["status"] == "healthy" else 503)

    class Endpoint:
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["method"] == "DELETE":
                # The end of a session that there never was.
                await Response(status_code=200)(scope, receive, send)
                return
            await sessions.handle_request(scope, receive, send)

    guarded = Door(Endpoint(), guard=guard)
    open_guard = replace(guard, token=None)
    routes = [Route(path, guarded) for path in ("/mcp", "/mcp/")]
    routes += [
        Route(path, health, methods=["GET"], middleware=[Middleware(Door, guard=open_guard)])
        for path in ("/health", "/healthz")
    ]
    return Starlette(routes=routes, middleware=[Middleware(FirstSession)], lifespan=lifespan)


async def graph_health(desk: GraphDesk) -> dict[str, object]:
    """``{status: healthy | unhealthy, service, graph, waiting, refused}``, as things are now."""
    found: dict[str, object] = {"service": "graphiti-mcp", "graph": "ok"}
    whole = True
    try:
        await desk.graph.ready()
    except KnowledgeError as error:
        whole, found["graph"] = False, error.message
    try:
        lag = await desk.lag()
        found |= {"outbox": "ok", "waiting": lag.waiting, "refused": lag.refused}
    except ControlPlaneError as error:
        whole, found["outbox"] = False, str(error)
    return {"status": "healthy" if whole else "unhealthy", **found}
