"""Running the stub as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from dcf.tools.stub.app import create_stub_app
from dcf.tools.stub.door import is_loopback

KEEP_ALIVE_S = 75
"""Longer than clients keep idle connections, so that they close them, not we under their hands."""


class CannotServe(Exception):
    """The stub cannot start on this address."""


class _Server(uvicorn.Server):
    """Announces itself when it listens, and leaves signals to ``serve``.

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
        raise CannotServe(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return listener


def check_exposure(host: str, token: str | None) -> None:
    """Raise ``CannotServe`` for an address beyond this machine without a token."""
    if not is_loopback(host) and not token:
        raise CannotServe(
            f"{host} can be reached from other machines: set DCF_TOKEN, which callers then send "
            "as a bearer token, or bind 127.0.0.1"
        )


async def serve(
    config_path: Path, *, host: str, port: int, seed: int | None, token: str | None
) -> None:
    """Serve until SIGTERM or SIGINT; open requests are cut off then.

    Prints one line of JSON when ready: ``{"event": "ready", "url", "port"}``. On loopback the
    token is not asked for. Raises ``CannotServe`` and ``InvalidDocument``.
    """
    check_exposure(host, token)
    app = create_stub_app(config_path, seed=seed, token=None if is_loopback(host) else token)
    listener = open_socket(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host

    def ready() -> None:
        line = {"event": "ready", "url": f"http://{shown}:{port}", "port": port}
        print(json.dumps(line), flush=True)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=0,
    )
    server = _Server(config, ready)

    def stop() -> None:
        server.should_exit = True
        app.state.desk.stop()
        # Cutting open requests off is what we want now; uvicorn would report each as an error.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await server.serve(sockets=[listener])
