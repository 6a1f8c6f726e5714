"""Where a Redis server listens, and how to say so without giving its password away."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import ConnectionPool
from redis.exceptions import RedisError

from control_plane.embedded.check import Check

_OPTIONS = frozenset(
    {"db", "username", "password", "client_name", "health_check_interval", "max_connections"}
    | {"retry_on_timeout", "socket_connect_timeout", "socket_keepalive", "socket_timeout"}
)
"""What may stand behind the ? of a URL, besides ``ssl_…``: of redis-py's options those that say
nothing of how replies are read."""


@dataclass(frozen=True, slots=True)
class Address:
    """``url`` is what redis-py takes and may hold a password; ``str()`` never shows it."""

    url: str = field(repr=False)
    origin: Literal["embedded", "configured"]
    concerns: tuple[Check, ...] = ()

    @property
    def label(self) -> str:
        """The URL without user, password and options."""
        return redact(self.url)

    def __str__(self) -> str:
        return self.label


def check_url(url: str) -> None:
    """Raises ValueError for what is no URL of a Redis server, also where redis-py passes over it or
    finds it only when it connects."""
    pool = ConnectionPool.from_url(url)
    parts = urlsplit(url)
    database = parts.path.strip("/")
    if parts.scheme != "unix" and database and not database.isdecimal():
        raise ValueError("the path is not the number of a database")
    options = list(parse_qs(parts.query))
    strange = [one for one in options if one not in _OPTIONS and not one.startswith("ssl_")]
    if strange:
        raise ValueError(f"a connection has no option {', '.join(strange)}")
    try:
        pool.connection_class(**pool.connection_kwargs)
    except (TypeError, RedisError) as error:
        told = f"{parts.scheme}:// does not take {', '.join(options)} in this way"
        raise ValueError(told) from error


def redact(url: str) -> str:
    """``url`` without credentials; of what is no URL, nothing but its scheme is repeated."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return f"{url.partition('://')[0]}://…" if "://" in url else "…"
    # An @ behind the host: a password with an unquoted / ? or # has torn the URL apart.
    torn = "@" in parts.path + parts.query + parts.fragment
    if torn or not parts.scheme or not (host or parts.scheme == "unix"):
        return f"{parts.scheme}://…" if parts.scheme and "://" in url else "…"
    place = f"[{host}]" if host and ":" in host else host or ""
    if port is not None:
        place += f":{port}"
    database = parse_qs(parts.query).get("db")
    return f"{parts.scheme}://{place}{parts.path}" + (f"?db={database[0]}" if database else "")
