"""A server of the generation before: it knows only the protocol with sessions."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class OldOnly:
    """Refuses requests of the newer protocol, as a server that has never heard of it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", []))
        if headers.get(b"mcp-protocol-version", b"").startswith(b"2026"):
            await PlainTextResponse("what?", 400)(scope, receive, send)
            return
        await self.app(scope, receive, send)
