"""The stub's routes for people, health checks, monitoring and tests."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dcf.tools.stub.catalog import Catalog
from dcf.tools.stub.desk import Desk

_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


def inspection_routes(desk: Desk) -> list[Route]:
    """``/healthz``, ``/metrics``, ``/metrics/reset``, ``/sequences/reset`` and ``/calls``."""

    async def healthz(_request: Request) -> JSONResponse:
        return JSONResponse(health(desk.catalog))

    async def metrics(request: Request) -> Response:
        if _for_prometheus(request):
            return PlainTextResponse(desk.metrics.to_prometheus(), media_type=_EXPOSITION)
        return JSONResponse(desk.metrics.to_dict())

    async def reset(_request: Request) -> JSONResponse:
        desk.reset()
        return JSONResponse({"status": "ok"})

    async def rewind(_request: Request) -> JSONResponse:
        desk.rewind()
        return JSONResponse({"status": "ok"})

    async def calls(_request: Request) -> JSONResponse:
        return JSONResponse({"calls": desk.calls.to_list()})

    return [
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/metrics/reset", reset, methods=["POST"]),
        Route("/sequences/reset", rewind, methods=["POST"]),
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


def _for_prometheus(request: Request) -> bool:
    """Whether the text is asked for, by name or by the Accept header that scrapers send."""
    wanted = request.query_params.get("format")
    if wanted is not None:
        return wanted == "prometheus"
    accept = request.headers.get("accept", "")
    return "application/json" not in accept and ("text/plain" in accept or "openmetrics" in accept)
