"""Running the server: over HTTP until it is told to stop, or over stdio until its client leaves."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, field

from dcf.agents import meanwhile
from dcf.mcp.http_app import create_app
from dcf.mcp.platform import Platform
from dcf.mcp.protocol import create_protocol
from dcf.mcp.roles import Role
from dcf.mcp.session_watch import watch_sessions
from dcf.tools.serving import Guard, check_exposure, serve_app

_GRACE_S = 10


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and who may come."""

    host: str
    port: int
    guard: Guard = field(default_factory=Guard)
    role: Role | None = None
    version: str = "0"


async def serve_http(
    platform: Platform, address: Address, *, on_ready: Callable[[str, int], None]
) -> None:
    """Serve until SIGTERM or SIGINT; calls under way get ten seconds then.

    ``on_ready`` is told URL and port. Raises CannotServe.
    """
    check_exposure(address.host, address.guard.token)
    app = create_app(platform, address.guard, role=address.role, version=address.version)

    def ready(url: str, port: int) -> None:
        on_ready(f"{url}/mcp", port)

    await serve_app(app, address.host, address.port, grace_s=_GRACE_S, on_ready=ready)


async def serve_stdio(platform: Platform, *, role: Role | None, version: str) -> bool:
    """Serve one client on standard input and output. True when the client closed them; False at
    SIGTERM or SIGINT: a thread then still reads the input, and only the end of the process ends
    that."""
    from mcp.server.stdio import stdio_server

    protocol = create_protocol(platform, role=role, version=version)

    async def run() -> None:
        watched = meanwhile(watch_sessions(platform))
        async with watched, stdio_server() as (read, write):
            await protocol.run(read, write, protocol.create_initialization_options())

    work = asyncio.create_task(run())
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    stop = asyncio.create_task(told.wait())
    await asyncio.wait([work, stop], return_when=asyncio.FIRST_COMPLETED)
    stop.cancel()
    if work.done():
        work.result()
    return work.done()
