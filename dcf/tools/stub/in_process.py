"""The stub in the event loop of somebody else's process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.types import ASGIApp

from dcf.tools.serving import open_socket


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # signals are the process's own


@contextlib.asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[str]:
    """The address of ``app`` on a free port of loopback, until the block ends."""
    listener = open_socket("127.0.0.1", 0)
    listener.listen()
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, timeout_graceful_shutdown=0
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
