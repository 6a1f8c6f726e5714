"""The stub's HTTP application."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.desk import Desk
from dcf.tools.stub.door import Door
from dcf.tools.stub.pacing import Sleep
from dcf.tools.stub.protocol import create_protocol


def create_stub_app(
    config_path: Path,
    *,
    seed: int | None = None,
    token: str | None = None,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> Starlette:
    """The application that serves a stub configuration.

    ``seed`` overrides the configuration's own; ``token`` is asked of every request when it is
    given. ``app.state.desk`` is the stub behind it. Raises ``InvalidDocument`` when the
    configuration is missing or wrong.
    """
    desk = Desk(Catalog(config_path), seed=seed, clock=clock, monotonic=monotonic, sleep=sleep)
    sessions = StreamableHTTPSessionManager(create_protocol(desk))

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    app = Starlette(
        routes=[
            Route("/mcp", McpEndpoint(desk, sessions)),
            Route("/mcp/{server_id}", McpEndpoint(desk, sessions)),
            *_inspection(desk),
        ],
        middleware=[Middleware(Door, token=token)],
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


def _inspection(desk: Desk) -> list[Route]:
    """The routes for people, health checks and tests."""

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse(health(desk.catalog))

    async def metrics(_request: Request) -> JSONResponse:
        return JSONResponse(desk.metrics.to_dict())

    async def reset(_request: Request) -> JSONResponse:
        desk.reset()
        return JSONResponse({"status": "ok"})

    async def calls(_request: Request) -> JSONResponse:
        return JSONResponse({"calls": desk.calls.to_list()})

    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/metrics/reset", reset, methods=["POST"]),
        Route("/calls", calls, methods=["GET"]),
    ]


def health(catalog: Catalog) -> dict[str, Any]:
    """``{status, error, servers, tools, cases, config, config_error}``.

    ``status`` is ``degraded`` while the file is broken and the tools of before are served.
    """
    config = catalog.current()
    problems = catalog.problems
    return {
        "status": "degraded" if problems else "ok",
        "error": problems[0].message if problems else None,
        "servers": len(config.servers),
        "tools": len(config.all_tools),
        "cases": config.case_count,
        "config": str(catalog.path),
        "config_error": [problem.to_dict() for problem in problems] or None,
    }
