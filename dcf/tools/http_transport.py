"""HTTP under the MCP client: one failed request fails its own call and nothing else."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from typing import Any

import httpx2

from dcf.tools.checked_addresses import CheckedAddresses
from dcf.tools.endpoint_watch import watched
from dcf.tools.gate.egress import EgressRules
from dcf.tools.large_result import MESSAGE_BYTES
from dcf.tools.meta import NOT_SENT, TOO_LARGE, UNAVAILABLE
from dcf.tools.redaction import Redactor
from dcf.tools.server_config import ServerConfig

SESSION_LOST = "dcf/session_lost"
"""Member that says: the server did not know the session, so it did not do the call."""

_CONNECT_S = 10.0
_WRITE_S = 30.0
_EXCERPT = 200
_IDLE_S = 4.0
"""Shorter than uvicorn's 5 s: a server that closes an idle connection just as we use it leaves
open whether the call arrived."""


class LoneFailures(httpx2.AsyncBaseTransport):
    """Turns what goes wrong with a POST into a JSON-RPC error reply to that POST.

    The MCP client would let the exception end the connection that all calls share, and would
    reduce a refusal such as 401 to "an error". Answers that are JSON-RPC pass unchanged. An answer
    of more than ``MESSAGE_BYTES`` is not read to its end.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, redactor: Redactor) -> None:
        self._inner = inner
        self._redactor = redactor

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return await self._inner.handle_async_request(request)
        try:
            response = await self._inner.handle_async_request(request)
            if _is_encoded(response):
                await response.aclose()
                return _stand_in("the answer is compressed, which was not asked for")
            if response.status_code < 400 and not _is_json(response):
                return response
            return self._checked(request, await _read(response))
        except _TooLarge:
            return _stand_in("the answer is too large", **{TOO_LARGE: MESSAGE_BYTES})
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            return _stand_in(_told(error), **{NOT_SENT: True})
        except httpx2.TransportError as error:
            return _stand_in(_told(error))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _checked(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        status = response.status_code
        if status == 404 and "mcp-session-id" in request.headers:
            return _stand_in(
                "the server no longer knows the session", **{SESSION_LOST: True, NOT_SENT: True}
            )
        if status < 400 or _is_rpc(response):
            return response
        # Redacted before it is cut: half a secret would not be found any more.
        excerpt = " ".join(self._redactor.text(response.text).split())[:_EXCERPT]
        return _stand_in(f"HTTP {status} {response.reason_phrase}: {excerpt}".rstrip(": "))


class EndsOnFailure(httpx2.AsyncBaseTransport):
    """Tells ``failed`` what went wrong with the older SSE transport: a POST that failed, an
    endpoint on another host.

    There the answer to a POST comes on another stream: the client would wait for it for ever.
    """

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, url: str, failed: Callable[[str], None]
    ) -> None:
        self._inner = inner
        self._url = url
        self._failed = failed

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            self._failed(_told(error))
            raise
        if request.method == "POST" and response.status_code >= 300:
            self._failed(f"HTTP {response.status_code} {response.reason_phrase}".rstrip())
        if request.method == "GET" and response.status_code == 200:
            return watched(response, self._url, self._failed)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _TooLarge(Exception):
    """More than ``MESSAGE_BYTES``."""


def http_client(config: ServerConfig, egress: EgressRules) -> httpx2.AsyncClient:
    """An HTTP client for one server. It has no read timeout: every call has its deadline."""
    return _client(config, LoneFailures(_inner(config, egress), Redactor(config.secrets)))


def sse_http_client(
    config: ServerConfig, egress: EgressRules, failed: Callable[[str], None]
) -> httpx2.AsyncClient:
    """The same for the older SSE transport."""
    return _client(config, EndsOnFailure(_inner(config, egress), config.url, failed))


def _inner(config: ServerConfig, egress: EgressRules) -> httpx2.AsyncBaseTransport:
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=64, keepalive_expiry=_IDLE_S
    )
    transport = httpx2.AsyncHTTPTransport(verify=_trust(config.url), limits=limits)
    return CheckedAddresses(transport, egress)


def _trust(url: str) -> ssl.SSLContext | bool:
    """Whose certificates count: those of the machine, whose list takes as long to read as twenty
    calls. Where nothing is encrypted it is not read, and nobody's count."""
    plain = url.lower().startswith("http://")
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True


def _client(config: ServerConfig, transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncClient:
    timeout = httpx2.Timeout(connect=_CONNECT_S, read=None, write=_WRITE_S, pool=None)
    # A limit on what is read says nothing about what a few bytes unpack to.
    headers = {**config.headers, "Accept-Encoding": "identity"}
    return httpx2.AsyncClient(transport=transport, headers=headers, timeout=timeout)


async def _read(response: httpx2.Response) -> httpx2.Response:
    """The same response with its whole body, so that a body cut short is noticed here."""
    parts: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_raw():
            size += len(chunk)
            if size > MESSAGE_BYTES:
                raise _TooLarge
            parts.append(chunk)
    finally:
        await response.aclose()
    body = b"".join(parts)
    return httpx2.Response(response.status_code, headers=response.headers, content=body)


def _told(error: httpx2.TransportError) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _is_encoded(response: httpx2.Response) -> bool:
    return response.headers.get("content-encoding", "identity").lower() not in ("", "identity")


def _is_json(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").lower().startswith("application/json")


def _is_rpc(response: httpx2.Response) -> bool:
    try:
        body: Any = json.loads(response.content) if _is_json(response) else None
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and "jsonrpc" in body


def _stand_in(cause: str, **data: Any) -> httpx2.Response:
    error = {"code": -32000, "message": cause, "data": {UNAVAILABLE: True, **data}}
    return httpx2.Response(503, json={"jsonrpc": "2.0", "id": None, "error": error})
