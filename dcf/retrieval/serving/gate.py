"""Who gets an answer from the service: addresses that are allowed, no more often than they may."""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_log = logging.getLogger(__name__)

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_CLIENTS = 10_000
"""Clients that are known at a time; of more the one that is silent longest is forgotten."""
_BURST_S = 2.0
"""A client may ask at once what it may ask in so many seconds."""
_OPEN = frozenset({"/healthz"})
"""Health checks are neither refused nor counted against anybody."""


class Metrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._within: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

    def count(self, route: str, status: int, seconds: float) -> None:
        """One request."""
        self._requests[route, status] += 1
        within = self._within.setdefault(route, [0] * (len(_BOUNDS_S) + 1))
        within[bisect_left(_BOUNDS_S, seconds)] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]

    def to_prometheus(self) -> str:
        """``dcf_retrieval_requests_total`` and the histogram ``dcf_retrieval_seconds``."""
        return "".join(f"{line}\n" for line in (*self._counts(), *self._times()))

    def _counts(self) -> Iterator[str]:
        yield "# HELP dcf_retrieval_requests_total Requests by route and status."
        yield "# TYPE dcf_retrieval_requests_total counter"
        for (route, status), count in sorted(self._requests.items()):
            labels = f'route="{route}",status="{status}"'
            yield f"dcf_retrieval_requests_total{{{labels}}} {count}"

    def _times(self) -> Iterator[str]:
        yield "# HELP dcf_retrieval_seconds How long requests took."
        yield "# TYPE dcf_retrieval_seconds histogram"
        for route, within in sorted(self._within.items()):
            total = 0
            for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), within, strict=True):
                total += count
                yield f'dcf_retrieval_seconds_bucket{{route="{route}",le="{bound}"}} {total}'
            yield f'dcf_retrieval_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'dcf_retrieval_seconds_count{{route="{route}"}} {total}'


@dataclass(frozen=True, slots=True)
class AccessLimits:
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
        limits: AccessLimits,
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
