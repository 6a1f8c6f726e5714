"""The operations over HTTP: each as JSON, ``POST /operations/NAME``, and all as MCP tools at
``/mcp``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dcf.mcp.endpoint import Endpoint
from dcf.mcp.experiment.calls import CALLS, Answered, answer, failed
from dcf.mcp.experiment.desk import ExperimentDesk
from dcf.mcp.experiment.protocol import create_experiment_protocol
from dcf.mcp.first_session import FirstSession
from dcf.tools.serving import Door, Guard

MOST_BYTES = 20 * 1024 * 1024
"""A request body is at most so large."""
_CALLS = {name: one for name, one in CALLS.items() if not one.operation.of_caller}


def create_experiment_app(desk: ExperimentDesk, guard: Guard, *, version: str = "0") -> Starlette:
    """The application over ``desk``, which stays its owner's to close. Every request is served by
    itself: who calls, and in which node, is said by its headers."""
    sessions = StreamableHTTPSessionManager(
        create_experiment_protocol(desk, version=version),
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_BYTES,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with sessions.run():
            yield

    async def operation(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _CALLS:
            return _answered(await answer(_CALLS, desk.experiment(), name, {}), 404)
        arguments = await _body(request)
        if isinstance(arguments, str):
            return JSONResponse(failed(arguments), 400)
        done = await answer(_CALLS, desk.experiment(request.headers), name, arguments)
        return _answered(done, 200 if done.is_understood else 400)

    async def operations(_request: Request) -> JSONResponse:
        listed = [
            {"name": one.name, "description": one.description, "arguments": one.schema}
            for one in _CALLS.values()
        ]
        return JSONResponse({"operations": listed})

    async def healthz(_request: Request) -> JSONResponse:
        await desk.memory.ledger.read(lambda connection: connection.execute("SELECT 1").fetchone())
        return JSONResponse({"status": "ok"})

    endpoint = FirstSession(Endpoint(sessions))
    return Starlette(
        routes=[
            Route("/mcp", endpoint),
            Route("/mcp/", endpoint),
            Route("/operations", operations, methods=["GET"]),
            Route("/operations/{name}", operation, methods=["POST"]),
            Route("/healthz", healthz, methods=["GET"]),
        ],
        middleware=[Middleware(Door, guard=guard)],
        lifespan=lifespan,
    )


def _answered(done: Answered, status: int) -> Response:
    return Response(done.text, status, media_type="application/json")


async def _body(request: Request) -> dict[str, Any] | str:
    """The arguments in the body of a request, or what is wrong with it."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_BYTES:
            return f"the body has more than {MOST_BYTES:,} bytes"
    try:
        arguments = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError) as error:
        return f"the body is no JSON: {error}"
    if not isinstance(arguments, dict):
        return f"the body is {type(arguments).__name__}, no JSON object of arguments"
    return arguments
