"""Calling tools: one shared connection for each server, a deadline on every call."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dcf.tools.errors import ToolTimeout, ToolUnavailable
from dcf.tools.meta import FENCE, IDEMPOTENCY_KEY
from dcf.tools.registry import Registry
from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig

if TYPE_CHECKING:
    from dcf.tools.connection import Connection

_LISTING_S = 30.0
_CONNECTION = "dcf.tools.connection"
_Answer = TypeVar("_Answer")


class Toolbox:
    """The tools of a registry, for as many tasks at once as there are.

    ::

        async with Toolbox(registry) as toolbox:
            result = await toolbox.call(
                "web", "search", {"query": "x"}, idempotency_key="wf/Find/1/1/0", fence=7,
                timeout_s=30,
            )

    Connections open with the first call to a server, and again after they were lost. A call is
    never sent twice, except where the server surely did not take the first one.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._connections: dict[str, Connection] = {}
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def call(
        self,
        server_id: str,
        tool_name: str,
        arguments: dict[str, Any],
        *,
        idempotency_key: str,
        fence: int,
        timeout_s: float,
    ) -> ToolResult:
        """The tool's answer; an error of the tool itself is a result with ``is_error``.

        ``timeout_s`` (seconds; lowered to the registry's own limit for the server) covers opening
        a connection too. Key and fence travel in the call's ``_meta``. Raises ``UnknownServer``,
        ``ToolTimeout``, and ``ToolUnavailable``, after which it is not known whether the server
        did the call: repeat it with the same key.
        """
        config = self._registry.server(server_id)
        limit = timeout_s if config.timeout_s is None else min(timeout_s, config.timeout_s)
        meta = {IDEMPOTENCY_KEY: idempotency_key, FENCE: fence}
        try:
            async with asyncio.timeout(limit):
                return await self._attempt(
                    config, lambda connection: connection.call(tool_name, arguments, meta)
                )
        except TimeoutError:
            raise ToolTimeout(server_id, tool_name, limit) from None

    async def list_tools(self, server_id: str) -> list[ToolDescription]:
        """The tools of a server as it lists them now. Raises as ``call`` does."""
        config = self._registry.server(server_id)
        limit = _LISTING_S if config.timeout_s is None else config.timeout_s
        try:
            async with asyncio.timeout(limit):
                return await self._attempt(config, lambda connection: connection.list_tools())
        except TimeoutError:
            raise ToolTimeout(server_id, "tools/list", limit) from None

    async def close(self) -> None:
        """Close all connections; calls under way fail as unavailable."""
        self._closed = True
        connections = list(self._connections.values())
        self._connections.clear()
        await asyncio.gather(*(connection.close() for connection in connections))

    async def _attempt(
        self, config: ServerConfig, use: Callable[[Connection], Awaitable[_Answer]]
    ) -> _Answer:
        """Use the server's connection, and a new one if the server had forgotten the session."""
        await _load_sdk()
        from dcf.tools.connection import SessionLost

        connection = self._connection(config)
        try:
            return await use(connection)
        except SessionLost:
            connection.retire()
        except ToolUnavailable:
            connection.retire()
            raise
        return await use(self._connection(config))

    def _connection(self, config: ServerConfig) -> Connection:
        from dcf.tools.connection import Connection

        if self._closed:
            raise ToolUnavailable(config.id, config.place, "the toolbox is closed")
        connection = self._connections.get(config.id)
        if connection is None or not connection.usable:
            connection = self._connections[config.id] = Connection(config)
        return connection


async def _load_sdk() -> None:
    """Import what needs the MCP SDK, which takes a second, without holding up the event loop."""
    if _CONNECTION not in sys.modules:
        await asyncio.to_thread(importlib.import_module, _CONNECTION)
