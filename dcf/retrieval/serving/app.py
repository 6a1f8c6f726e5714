"""The HTTP application of retrieval: ``/log``, ``/augmented-context``, and what watches them."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dcf.problem import ProblemError
from dcf.retrieval.audit_log import Caller
from dcf.retrieval.backend import Elsewhere
from dcf.retrieval.projects import Projects
from dcf.retrieval.question import ContextQuestion
from dcf.retrieval.retrieval import Retrieval
from dcf.retrieval.serving.answers import Json, context_answer, refusal, stored
from dcf.retrieval.serving.gate import AccessLimits, Gate, Metrics
from dcf.retrieval.serving.openapi import openapi, page
from dcf.retrieval.serving.requests import BadRequest, ContextBody, LogBody, body_of
from dcf.secret_form import without_secrets
from dcf.stopping import stop
from dcf.tools.serving import Door, Guard, bearer_of

_log = logging.getLogger(__name__)

_EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"
_SWEEP_S = 60.0
_LONGEST_ID = 200
"""Characters of the id of an item: those that the service gives have fewer."""
_AGAIN_S = 60.0
"""Between work behind the requests that failed for a reason nobody foresaw and its next try."""

Handler = Callable[[Request], Awaitable[Response]]
Answer = Callable[[ContextQuestion, Caller], Awaitable[Response]]


def create_app(
    retrieval: Retrieval,
    projects: Projects,
    guard: Guard,
    limits: AccessLimits,
    *,
    version: str = "0",
    backend: str = "",
    nightly: Callable[[], Coroutine[Any, Any, None]] | None = None,
    answer: Answer | None = None,
    embed: Elsewhere | None = None,
) -> Starlette:
    """The application over ``retrieval``, which stays its owner's to close. ``guard`` lets in who
    has its token; tokens of ``projects`` are taken besides, each for its own project. ``nightly``
    goes on as long as the service runs. ``answer`` answers questions and ``embed`` embeds what is
    logged, where others do."""
    desk = _Desk(retrieval, projects, answer or partial(context_answer, retrieval))
    metrics = Metrics()
    spec = openapi(version)

    async def healthz(_request: Request) -> Response:
        try:
            for project in projects.roots[:1]:
                await retrieval.items.recall(project, "", limit=1)
        except ProblemError as error:
            body = {"status": "unhealthy", "error": str(error)}
            return JSONResponse(body, status_code=503)
        return JSONResponse({"status": "ok", "backend": backend})

    async def exposed(_request: Request) -> Response:
        return PlainTextResponse(metrics.to_prometheus(), media_type=_EXPOSITION)

    async def described(_request: Request) -> Response:
        return JSONResponse(spec)

    async def shown(_request: Request) -> Response:
        return HTMLResponse(page(spec))

    routes = [
        Route("/log", _answering(desk.log), methods=["POST"]),
        Route("/log/{id}", _answering(desk.delete), methods=["DELETE"]),
        Route("/augmented-context", _answering(desk.context), methods=["POST"]),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", exposed, methods=["GET"]),
        Route("/openapi.json", described, methods=["GET"]),
        Route("/docs", shown, methods=["GET"]),
    ]

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        behind: list[Callable[[], Awaitable[None]]] = [
            partial(_sweep, retrieval, projects),
            partial(retrieval.items.keep_up, embed),
        ]
        behind += [] if nightly is None else [nightly]
        tasks = [asyncio.create_task(_whatever_happens(one)) for one in behind]
        try:
            yield
        finally:
            for task in tasks:
                await stop(task)

    guard = replace(guard, besides=tuple(projects.tokens))
    paths = [route.path for route in routes]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Gate, limits=limits, metrics=metrics, routes=paths),
            Middleware(Door, guard=guard),
        ],
        exception_handlers={404: _unrouted, 405: _unrouted},
        lifespan=lifespan,
    )
    # /log/ is nothing of ours, and no answer leads to where a request's own Host says.
    app.router.redirect_slashes = False
    return app


class _Desk:
    """Each route with a body, without HTTP's errors."""

    def __init__(self, retrieval: Retrieval, projects: Projects, answer: Answer) -> None:
        self._retrieval = retrieval
        self._projects = projects
        self._answer = answer

    async def log(self, request: Request) -> Response:
        body = await body_of(request, LogBody)
        item = await self._retrieval.log(self._project(request, body.root), body.item())
        answer: dict[str, Any] = {"ok": True, "stored": stored(item)}
        if warnings := body.warnings():
            answer["warnings"] = warnings
        return Json(answer)

    async def delete(self, request: Request) -> Response:
        project = self._project(request, request.query_params.get("root"))
        item_id = request.path_params["id"]
        if len(item_id) > _LONGEST_ID:
            raise BadRequest(f"an id has at most {_LONGEST_ID} characters, not {len(item_id):,}")
        await self._retrieval.forget(project, item_id, _caller(request))
        return JSONResponse({"ok": True, "deleted": item_id})

    async def context(self, request: Request) -> Response:
        body = await body_of(request, ContextBody)
        question = body.question(self._project(request, body.root))
        return await self._answer(question, _caller(request))

    def _project(self, request: Request, named: str | None) -> str:
        return self._projects.chosen(_token(request), named or None)


def _token(request: Request) -> str | None:
    return bearer_of(request.headers.get("authorization", ""))


def _caller(request: Request) -> Caller:
    """Who asks, for the audit: by the first digits of the token's digest."""
    token, client = _token(request), request.client
    name = f"token {hashlib.sha256(token.encode()).hexdigest()[:8]}" if token else "no token"
    return Caller(name, "" if client is None else client.host)


def _answering(handler: Handler) -> Handler:
    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except BadRequest as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)
        except ProblemError as error:
            return refusal(error)

    return answered


async def _unrouted(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    what = "is not served here" if status == 404 else f"takes no {request.method}"
    headers = getattr(error, "headers", None)
    body = {
        "error": f"{without_secrets(request.url.path)} {what}",
        "hint": "/docs lists what there is",
    }
    return JSONResponse(body, status_code=status, headers=headers)


async def _whatever_happens(work: Callable[[], Awaitable[None]]) -> None:
    """Do ``work``, which goes on as long as the service runs, also behind an error of its own."""
    while True:
        try:
            await work()
            return
        except Exception:  # noqa: BLE001 - told, and nobody else is there to begin it again
            _log.exception("work behind the requests failed, and is begun again soon")
            await asyncio.sleep(_AGAIN_S)


async def _sweep(retrieval: Retrieval, projects: Projects) -> None:
    """Give up what nobody is to find any more, as long as the service runs."""
    while True:
        for project in projects.roots:
            try:
                await retrieval.sweep(project)
            except ProblemError as error:
                # A full disk or a busy file: what is over is not recalled all the same.
                _log.warning("items whose time is over stay for now: %s", error)
        await asyncio.sleep(_SWEEP_S)
