"""Who gets an answer from the service: addresses that are allowed, no more often than they may."""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dcf.retrieval.serving.metrics import Metrics

_log = logging.getLogger(__name__)

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_CLIENTS = 10_000
"""Clients that are known at a time; of more the one that is silent longest is forgotten."""
_BURST_S = 2.0
"""A client may ask at once what it may ask in so many seconds."""
_OPEN = frozenset({"/healthz"})
"""Health checks are neither refused nor counted against anybody."""


@dataclass(frozen=True, slots=True)
class Limits:
    """``networks`` are those that may ask (empty: all, for a service that
    this machine alone can reach), ``rate`` the requests per second of one
    address (0: any number)."""

    networks: tuple[Network, ...] = ()
    rate: float = 0.0


def networks_of(text: str) -> tuple[Network, ...]:
    """Addresses and networks, between commas. Raises ValueError."""
    parts = (part.strip() for part in text.split(","))
    return tuple(ipaddress.ip_network(part, strict=False) for part in parts if part)


class Gate:
    """Refuses with 403 and 429, counts and logs every request. ``routes`` are the paths that are
    counted by name."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        limits: Limits,
        metrics: Metrics,
        routes: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._limits = limits
        self._metrics = metrics
        self._routes = routes
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = self._clock()
        status = 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        client = (scope.get("client") or ("",))[0]
        refusal = None if scope["path"] in _OPEN else self._refusal(client)
        try:
            await (refusal or self._app)(scope, receive, sending)
        finally:
            took = self._clock() - began
            route = self._route(scope["path"])
            self._metrics.count(route, status, took)
            _log.info("%s %s %d %.1f ms %s", scope["method"], route, status, took * 1e3, client)

    def _refusal(self, client: str) -> JSONResponse | None:
        if self._limits.networks and not self._is_allowed(client):
            error = (
                f"the request was refused: its address {client} is none of those that may ask"
                " this service; let DCF_RETRIEVAL_ALLOW list it where the service is started"
            )
            return JSONResponse({"error": error}, status_code=403)
        wait = self._wait(client)
        if not wait:
            return None
        later = math.ceil(wait)
        error = (
            f"the request was refused: its address asks more than {self._limits.rate:g} times a"
            f" second; ask again in {later} s, or let DCF_RETRIEVAL_RATE allow more where the"
            " service is started"
        )
        return JSONResponse({"error": error}, status_code=429, headers={"Retry-After": str(later)})

    def _is_allowed(self, client: str) -> bool:
        try:
            address = ipaddress.ip_address(client)
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self._limits.networks)

    def _wait(self, client: str) -> float:
        """Seconds until this client may ask; 0 if it may now, which is counted."""
        rate = self._limits.rate
        if not rate:
            return 0.0
        now = self._clock()
        most = max(rate * _BURST_S, 1.0)
        left, at = self._left.pop(client, (most, now))
        left = min(most, left + (now - at) * rate)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        if len(self._left) > _CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / rate

    def _route(self, path: str) -> str:
        if path.startswith("/log/"):
            return "/log/{id}"
        return path if path in self._routes else "other"
