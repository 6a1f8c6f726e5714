"""Serving an application until the process is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dcf.tools.errors import ToolsError
from dcf.tools.serving.door import is_loopback

KEEP_ALIVE_S = 75
"""Longer than clients keep idle connections, so that they close them, not we under their hands."""


SHORTEST_TOKEN = 16
"""Characters of a token that other machines may try to guess."""
NEW_TOKEN = "`openssl rand -hex 32`"


LONGEST_HEAD = 65_536
"""Bytes of a request's line and headers, or of its trailers."""


class CannotServe(ToolsError):
    """The server cannot start on this address."""

    code = "cannot_serve"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class WrongPlace(CannotServe):
    """What was asked for cannot be: no port, or an open door without a token."""


class _Server(uvicorn.Server):
    """Announces itself when it listens, and leaves signals to ``serve_app``.

    uvicorn would raise the signal again after its shutdown, which turns a clean end into a kill.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class HttpProtocol(HttpToolsProtocol):
    """HTTP by httptools, which by itself takes headers of any length and any number of hosts."""

    _held = 0

    def data_received(self, data: bytes) -> None:
        """Parse what came; a head or trailers that are too long are refused."""
        self._held += len(data)
        super().data_received(data)
        if self._held > LONGEST_HEAD and not self.transport.is_closing():
            self.send_400_response("The headers of the request are too long.")

    def on_headers_complete(self) -> None:
        """Refuse a request without exactly one ``Host`` (RFC 9112, 3.2): the error is a 400."""
        self._held = 0
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            raise ValueError("a request has one Host")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._held = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._held = 0
        super().on_message_complete()


def open_socket(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one. Raises ``CannotServe``."""
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        raise CannotServe(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            "choose another port; 0 takes a free one",
        ) from None
    return listener


def check_exposure(host: str, token: str | None) -> None:
    """Raise ``WrongPlace`` for an address beyond this machine without a token, or with one that can
    be guessed."""
    if is_loopback(host):
        return
    if not token:
        raise WrongPlace(
            f"{host} can be reached from other machines, and there is no token",
            "set DCF_TOKEN, which callers then send as a bearer token, or bind 127.0.0.1",
        )
    weak = weakness(token)
    if weak:
        raise WrongPlace(
            f"{host} can be reached from other machines, and the token {weak}",
            f"{NEW_TOKEN} writes a good one; or bind 127.0.0.1",
        )


def weakness(token: str) -> str:
    """Why ``token`` can be guessed from afar, "" for any other."""
    if len(token) < SHORTEST_TOKEN:
        return f"has fewer than {SHORTEST_TOKEN} characters"
    return "repeats one character" if len(set(token)) == 1 else ""


async def serve_app(
    app: ASGIApp,
    host: str,
    port: int,
    *,
    grace_s: int,
    on_ready: Callable[[str, int], None],
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Serve ``app`` until SIGTERM or SIGINT; ``on_stop`` is called then, and calls under way get
    ``grace_s`` seconds. ``on_ready`` is told the URL and the port. Raises ``CannotServe``."""
    listener = open_socket(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        app,
        http=HttpProtocol,
        log_level="warning",
        access_log=False,
        log_config=None,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=grace_s,
    )
    server = _Server(config, lambda: on_ready(f"http://{shown}:{port}", port))

    def stop() -> None:
        server.should_exit = True
        on_stop()
        if not grace_s:
            # Cutting open requests off is what is wanted; uvicorn would report each as an error.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await server.serve(sockets=[listener])
