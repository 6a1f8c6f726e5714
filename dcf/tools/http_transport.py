"""HTTP under the MCP client: one failed request fails its own call and nothing else."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from dcf.tools.meta import UNAVAILABLE
from dcf.tools.server_config import ServerConfig

SESSION_LOST = "dcf/session_lost"
"""Member that says: the server did not know the session, so it did not do the call."""

_CONNECT_S = 10.0
_WRITE_S = 30.0
_IDLE_S = 4.0
"""Shorter than uvicorn's 5 s: a server that closes an idle connection just as we use it leaves
open whether the call arrived."""


class LoneFailures(httpx2.AsyncBaseTransport):
    """Turns what goes wrong with a POST into a JSON-RPC error reply to that POST.

    The MCP client would let the exception end the connection that all calls share, and would
    reduce a refusal such as 401 to "an error". Answers that are JSON-RPC pass unchanged.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
            if response.status_code < 400 and not _is_json(response):
                return response
            return _checked(request, await _read(response))
        except httpx2.TransportError as error:
            return _stand_in(f"{type(error).__name__}: {error}".rstrip(": "))

    async def aclose(self) -> None:
        await self._inner.aclose()


def http_client(config: ServerConfig) -> httpx2.AsyncClient:
    """An HTTP client for one server. It has no read timeout: every call has its deadline."""
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=64, keepalive_expiry=_IDLE_S
    )
    timeout = httpx2.Timeout(connect=_CONNECT_S, read=None, write=_WRITE_S, pool=None)
    inner = httpx2.AsyncHTTPTransport(limits=limits, retries=config.retries)
    return httpx2.AsyncClient(
        transport=LoneFailures(inner), headers=dict(config.headers), timeout=timeout
    )


async def _read(response: httpx2.Response) -> httpx2.Response:
    """The same response with its whole body, so that a body cut short is noticed here."""
    try:
        body = b"".join([chunk async for chunk in response.aiter_raw()])
    finally:
        await response.aclose()
    return httpx2.Response(response.status_code, headers=response.headers, content=body)


def _checked(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    status = response.status_code
    if status == 404 and "mcp-session-id" in request.headers:
        return _stand_in("the server no longer knows the session", session_lost=True)
    if status < 400 or _is_rpc(response):
        return response
    excerpt = " ".join(response.text[:200].split())
    return _stand_in(f"HTTP {status} {response.reason_phrase}: {excerpt}".rstrip(": "))


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("application/json")


def _is_rpc(response: httpx2.Response) -> bool:
    try:
        body: Any = json.loads(response.content) if _is_json(response) else None
    except ValueError:
        return False
    return isinstance(body, dict) and "jsonrpc" in body


def _stand_in(cause: str, *, session_lost: bool = False) -> httpx2.Response:
    data = {UNAVAILABLE: True, SESSION_LOST: session_lost}
    error = {"code": -32000, "message": cause, "data": data}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": error})
