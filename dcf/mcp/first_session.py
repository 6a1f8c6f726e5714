"""A session id for clients that expect one."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SESSION = "mcp-session-id"
_VERSION = "mcp-protocol-version"


class FirstSession:
    """Wraps an ASGI application.

    Clients of older protocol versions may expect a session id from ``initialize``: they get one,
    and nothing is ever looked up by it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        opens = False
        if scope["type"] == "http" and scope["method"] == "POST":
            headers = Headers(scope=scope)
            opens = _VERSION not in headers and _SESSION not in headers
        await self._app(scope, receive, _with_session(send) if opens else send)


def _with_session(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            MutableHeaders(scope=message)[_SESSION] = secrets.token_hex(16)
        await send(message)

    return sending
