"""Running the server: over HTTP until it is told to stop, or over stdio until its client leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dcf.agents import meanwhile
from dcf.mcp.http_app import create_app
from dcf.mcp.platform import Platform
from dcf.mcp.protocol import create_protocol
from dcf.mcp.roles import Role
from dcf.mcp.session_watch import watch_sessions
from dcf.mcp.stdio import serve_on_stdio
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
    """Serve one client on standard input and output; whether it closed them, as ``serve_on_stdio``
    says."""
    protocol = create_protocol(platform, role=role, version=version)
    if platform.config.is_alone:
        return await serve_on_stdio(protocol)
    async with meanwhile(watch_sessions(platform)):
        return await serve_on_stdio(protocol)
