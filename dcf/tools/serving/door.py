"""Who may talk to the server over HTTP: the bearer of its token, from no foreign web page."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dcf.tools.serving.authority import Authority, Origin

OPEN_PATHS = frozenset({"/healthz"})
"""Health checks need no token; they say nothing of runs."""

_SWITCH = "DCF_MCP_ENABLE_DNS_REBINDING_PROTECTION"
_HOSTS = "DCF_MCP_ALLOWED_HOSTS"
_ORIGINS = "DCF_MCP_ALLOWED_ORIGINS"
_HEADER = "send Authorization: Bearer and the token that the server was started with"
# What the request said is not said again: a log or a page may show it.
_NO_TOKEN = f"the request was refused: it has no token, and this server asks for one; {_HEADER}"
_WRONG_TOKEN = f"the request was refused: its token is none of this server's; {_HEADER}"
_WRONG_HOST = (
    "the request was refused: its Host header names another server; ask this one by a name of its"
    f" own, or let {_HOSTS} list that name where the server is started"
)
_WRONG_ORIGIN = (
    "the request was refused: it comes from a page of another site; ask without a browser, or let"
    f" {_ORIGINS} list that site where the server is started"
)
_OFF = frozenset({"0", "false", "no", "off"})


@lru_cache(64)
def is_loopback(host: str) -> bool:
    """Whether a server bound to ``host`` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Guard:
    """What a request must look like. ``hosts`` and ``origins`` may end with ``:*`` for any port;
    with ``loopback`` the names of this machine are hosts besides. A page of the server itself, of
    the host and port that the request names, may always ask; another page of this machine may not,
    since nobody knows whose it is. Without ``enabled`` neither host nor origin is looked at.
    ``token``, or one of those ``besides``, is asked of everybody where there is one."""

    token: str | None = field(default=None, repr=False)
    besides: tuple[str, ...] = field(default=(), repr=False)
    loopback: bool = True
    enabled: bool = True
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @classmethod
    def from_env(cls, env: Mapping[str, str], host: str, token: str | None) -> Guard:
        """The guard of a server on ``host``."""
        return cls(
            token=token,
            loopback=is_loopback(host),
            enabled=env.get(_SWITCH, "true").strip().lower() not in _OFF,
            hosts=_listed(env.get(_HOSTS, "")),
            origins=_listed(env.get(_ORIGINS, "")),
        )

    @classmethod
    def asking(cls, token: str | None) -> Guard:
        """The guard that asks for ``token`` and nothing else; without one, of a server that can be
        reached from this machine only."""
        return cls(token=token, loopback=token is None, enabled=token is None)

    def refusal(self, headers: Headers, path: str) -> JSONResponse | None:
        """Why a request is turned away, None when it is not."""
        if self.enabled:
            # Off loopback a page in a browser lacks the token, so names are checked on request.
            checks_hosts = self.loopback or bool(self.hosts)
            host = Authority.of_headers(headers.getlist("host"))
            if checks_hosts and (host is None or not self._knows_host(host)):
                return _refuse(421, "host_not_allowed", _WRONG_HOST)
            for origin in headers.getlist("origin"):
                if not self._knows_origin(origin, host if checks_hosts else None):
                    return _refuse(403, "origin_not_allowed", _WRONG_ORIGIN)
        tokens = [token for token in (self.token, *self.besides) if token is not None]
        if not tokens or path in OPEN_PATHS:
            return None
        given = headers.get("authorization", "")
        told = (bearer_of(given) or "").encode()
        # All of them are compared: how long it takes says nothing.
        same = [hmac.compare_digest(told, token.encode()) for token in tokens]
        if any(same):
            return None
        answer = _refuse(401, "token_required", _WRONG_TOKEN if given else _NO_TOKEN)
        answer.headers["WWW-Authenticate"] = 'Bearer realm="dcf"'
        return answer

    def _knows_host(self, given: Authority) -> bool:
        return given.is_one_of(self.hosts) or (self.loopback and is_loopback(given.host))

    def _knows_origin(self, given: str, own: Authority | None) -> bool:
        origin = Origin.parse(given)
        if origin is None:
            return False
        is_own = origin.authority == own and origin.scheme in ("http", "https")
        return is_own or origin.is_one_of(self.origins)


def bearer_of(authorization: str) -> str | None:
    """The token of a header ``Authorization: Bearer TOKEN``; the case of the scheme does not count
    (RFC 9110 11.1). None where it has another scheme."""
    scheme, _, token = authorization.partition(" ")
    return token if scheme.lower() == "bearer" else None


class Door:
    """Wraps an ASGI application in a guard."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = None
        if scope["type"] == "http":
            refusal = self._guard.refusal(Headers(scope=scope), scope["path"])
        await (refusal or self._app)(scope, receive, send)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _refuse(status: int, code: str, error: str) -> JSONResponse:
    body = {"status": None, "error": error, "code": code}
    return JSONResponse(body, status_code=status)
