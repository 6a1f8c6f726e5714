"""Who may talk to the stub: this machine, or the bearer of a token."""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

OPEN_PATHS = {"/healthz"}
"""Health checks need no token; they say nothing of the calls."""


def is_loopback(host: str) -> bool:
    """Whether a server bound to ``host`` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Door:
    """Wraps an ASGI application.

    With a token, every request must carry it. Without one, the server is on loopback, and the
    requests of web pages are refused: those that name another host (DNS rebinding) or come from
    another origin.
    """

    def __init__(self, app: ASGIApp, *, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        if self._token is None:
            return _refuse_foreign(headers)
        given = headers.get("authorization", "")
        if scope["path"] in OPEN_PATHS or hmac.compare_digest(
            given.encode(), f"Bearer {self._token}".encode()
        ):
            return None
        return JSONResponse(
            {"error": "a bearer token is required (the value of DCF_TOKEN)"},
            status_code=401,
            headers={"WWW-Authenticate": "Bearer"},
        )


def _refuse_foreign(headers: Headers) -> JSONResponse | None:
    if not _names_loopback("//" + headers.get("host", "")):
        return JSONResponse({"error": "this server answers to loopback names only"}, 421)
    origin = headers.get("origin")
    if origin is not None and not _names_loopback(origin):
        return JSONResponse({"error": "requests of other origins are refused"}, 403)
    return None


def _names_loopback(address: str) -> bool:
    try:
        host = urlsplit(address).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)
