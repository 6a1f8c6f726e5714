"""Whom the tests call: a stub in this process, or a server somewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dcf.tools import Registry, ServerConfig, Toolbox, ToolResult
from dcf.tools.stub import Desk, create_stub_app, served

LONGEST_WAIT_S = 3.0
"""Longer delays of the stub in this process are cut to this."""


class Target:
    """Calls tools over MCP.

    ``desk`` is the stub behind it where that runs in this process; ``is_stub`` tells whether it
    plays cases at all; real servers do not.
    """

    def __init__(self, toolbox: Toolbox, url: str, *, desk: Desk | None, is_stub: bool) -> None:
        self._toolbox = toolbox
        self._url = url
        self._desk = desk
        self.is_stub = is_stub

    @property
    def is_ours(self) -> bool:
        return self._desk is not None

    async def call(
        self, tool: str, arguments: dict[str, Any], *, key: str, timeout_s: float
    ) -> ToolResult:
        """One call of ``server:tool``; raises ``ToolTimeout``, ``ToolUnavailable``."""
        server_id, _, name = tool.partition(":")
        return await self._toolbox.call(
            server_id, name, arguments, idempotency_key=key, fence=0, timeout_s=timeout_s
        )

    async def warm_up(self, tool: str) -> None:
        """Connect to the tool's server, so that no call pays for it."""
        await self._toolbox.list_tools(tool.partition(":")[0])

    async def rewind(self) -> None:
        """Let sequences begin again, where the server can."""
        if self._desk is not None:
            self._desk.rewind()
        elif self.is_stub:
            import httpx2

            async with httpx2.AsyncClient() as http:
                await http.post(f"{self._url}/sequences/reset")

    def case_of(self, key: str) -> str | None:
        """The case that answered the call of ``key``, where that can be known."""
        if self._desk is None:
            return None
        return self._desk.calls.case_of(key)


@asynccontextmanager
async def own_stub(config: Path, servers: set[str]) -> AsyncIterator[Target]:
    """A stub on a free port of this machine, and a client of it."""
    app = create_stub_app(config, sleep=_sleep)
    async with served(app) as url, _toolbox(url, servers) as toolbox:
        try:
            yield Target(toolbox, url, desk=app.state.desk, is_stub=True)
        finally:
            app.state.desk.stop()


@asynccontextmanager
async def server_at(url: str, servers: set[str], headers: dict[str, str]) -> AsyncIterator[Target]:
    """The server at ``url``.

    An address without a path is a stub's: each server is below ``/mcp`` there. With a path it is
    one MCP server that has all the tools.
    """
    url = url.rstrip("/")
    is_stub = not urlsplit(url).path
    async with _toolbox(url, servers, headers, alone=not is_stub) as toolbox:
        yield Target(toolbox, url, desk=None, is_stub=is_stub)


@asynccontextmanager
async def _toolbox(
    url: str, servers: set[str], headers: dict[str, str] | None = None, *, alone: bool = False
) -> AsyncIterator[Toolbox]:
    configs = [
        ServerConfig(
            server_id, url=url if alone else f"{url}/mcp/{server_id}", headers=headers or {}
        )
        for server_id in sorted(servers)
    ]
    async with Toolbox(Registry(configs)) as toolbox:
        yield toolbox


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(min(seconds, LONGEST_WAIT_S))
