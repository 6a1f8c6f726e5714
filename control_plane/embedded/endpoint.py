"""Choosing where an embedded server listens."""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

# sun_path without its final NUL: 108 bytes on Linux, 104 on macOS.
SOCKET_PATH_LIMIT = 103 if sys.platform == "darwin" else 107

_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A Unix socket, or a loopback port with a password."""

    socket: Path | None = None
    port: int = 0
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """For redis-py."""
        if self.socket is not None:
            return f"unix://{quote(str(self.socket))}?db=0"
        return f"redis://:{self.password}@{_LOOPBACK}:{self.port}/0"

    def directives(self) -> list[tuple[str, ...]]:
        """The lines of redis.conf that make the server listen here and nowhere else."""
        if self.socket is not None:
            return [("port", "0"), ("unixsocket", str(self.socket)), ("unixsocketperm", "700")]
        return [
            ("bind", _LOOPBACK),
            ("port", str(self.port)),
            ("protected-mode", "yes"),
            ("requirepass", self.password),
        ]

    def hidden(self) -> Endpoint:
        """Where to listen while nobody is to connect yet: a socket of a new name, no longer than
        this one's, beside it. A port is one that nobody knows yet."""
        if self.socket is None:
            return self
        return Endpoint(socket=self.socket.with_name(f"new-{secrets.token_hex(3)}"))


def socket_of(url: str) -> Path | None:
    """The socket that a URL of an endpoint names, None for one with a port."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "unix" else None


def choose_endpoint(folder: Path, runtime: Path | None) -> Endpoint:
    """A socket in ``folder``; if that path is too long, one in ``runtime``, else a free port."""
    path = socket_path(folder, runtime)
    if path is not None:
        return Endpoint(socket=path)
    return Endpoint(port=_free_port(), password=secrets.token_urlsafe(32))


def socket_path(folder: Path, runtime: Path | None) -> Path | None:
    """The first place for a socket whose path the kernel accepts; the same one at every call."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    candidates = [folder / "redis.sock"]
    if runtime is not None:
        candidates.append(runtime / f"dcf-{digest}.sock")
    return next((p for p in candidates if len(os.fsencode(p)) <= SOCKET_PATH_LIMIT), None)


def _free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind((_LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port
