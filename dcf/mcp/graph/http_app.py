"""The graph's server over HTTP: ``/mcp/`` for clients, ``/health`` for those who look after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from control_plane import ControlPlaneError
from dcf.knowledge import GraphRefused, GraphUnsuitable, KnowledgeError
from dcf.mcp.endpoint import Endpoint
from dcf.mcp.first_session import FirstSession
from dcf.mcp.graph.desk import GraphDesk
from dcf.mcp.graph.protocol import create_graph_protocol
from dcf.tools.serving import Door, Guard

_MOST_BYTES = 2 * 1024 * 1024
# Less than what `dcf health graph` waits, so that it hears the reason.
_LIMIT_S = 2.0


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

    guarded = Door(Endpoint(sessions), guard=guard)
    open_guard = replace(guard, token=None)
    routes = [Route(path, guarded) for path in ("/mcp", "/mcp/")]
    routes += [
        Route(path, health, methods=["GET"], middleware=[Middleware(Door, guard=open_guard)])
        for path in ("/health", "/healthz")
    ]
    return Starlette(routes=routes, middleware=[Middleware(FirstSession)], lifespan=lifespan)


async def graph_health(desk: GraphDesk) -> dict[str, object]:
    """``{status: healthy | unhealthy, error, service, graph, outbox, waiting?, refused?}``, as
    things are now; ``graph`` and ``outbox`` are ``ok`` or ``down``."""
    graph, (outbox, counts) = await asyncio.gather(_graph(desk), _outbox(desk))
    errors = [error for error in (graph, outbox) if error is not None]
    return {
        "status": "unhealthy" if errors else "healthy",
        "error": "; ".join(errors) or None,
        "service": "graphiti-mcp",
        "graph": "down" if graph else "ok",
        "outbox": "down" if outbox else "ok",
        **counts,
    }


# What exactly is wrong may name hosts, and this is said to anybody.


async def _graph(desk: GraphDesk) -> str | None:
    """Why the graph cannot be asked, None when it can."""
    try:
        async with asyncio.timeout(_LIMIT_S):
            await desk.graph.ready()
    except (GraphRefused, GraphUnsuitable):
        return "graph: it refuses to answer; is the password right, and is it a FalkorDB?"
    except (KnowledgeError, TimeoutError):
        return "graph: it does not answer"
    return None


async def _outbox(desk: GraphDesk) -> tuple[str | None, dict[str, int]]:
    """Why nothing can be put into the outbox, or how much waits there."""
    try:
        async with asyncio.timeout(_LIMIT_S):
            lag = await desk.lag()
    except (ControlPlaneError, TimeoutError):
        return "outbox: Redis does not answer", {}
    return None, {"waiting": lag.waiting, "refused": lag.refused}
