"""A name of this machine or of the intranet must not lead to an address elsewhere."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import httpx2

from dcf.tools.gate.egress import EgressRules

Resolve = Callable[[str], Awaitable[list[str]]]


async def resolve(host: str) -> list[str]:
    """The addresses of a host name; raises OSError when it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedAddresses(httpx2.AsyncBaseTransport):
    """Looks up the names that the egress rules trust by name, and connects to the very address it
    has checked: a name server that changes its answer in between changes nothing."""

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        rules: EgressRules,
        resolve: Resolve = resolve,
    ) -> None:
        self._inner = inner
        self._rules = rules
        self._resolve = resolve

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.host
        if not self._rules.trusts_name(host):
            return await self._inner.handle_async_request(request)
        try:
            addresses = await self._resolve(host)
        except OSError as error:
            raise httpx2.ConnectError(f"{host}: {error}") from None
        for address in addresses:
            if not self._rules.may_lead_to(host, address):
                level = self._rules.level(host)
                where = "this machine" if level == "none" else "the intranet"
                raise httpx2.ConnectError(f"{host} is a name of {where} but leads to {address}")
        return await self._first_that_connects(request, addresses)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _first_that_connects(
        self, request: httpx2.Request, addresses: list[str]
    ) -> httpx2.Response:
        failure: httpx2.ConnectError | None = None
        for address in addresses:
            try:
                return await self._inner.handle_async_request(_aimed(request, address))
            except httpx2.ConnectError as error:
                failure = error
        raise failure or httpx2.ConnectError(f"{request.url.host} has no address")


def _aimed(request: httpx2.Request, address: str) -> httpx2.Request:
    """The same request to an address; the name stays in the Host header and for TLS."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
