"""Calling tools: one shared connection for each server, a deadline on every call."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dcf.tools.errors import ToolTimeout, ToolUnavailable
from dcf.tools.gate.egress import EgressRules
from dcf.tools.meta import FENCE, IDEMPOTENCY_KEY, NODE, PROGRAMS
from dcf.tools.registry import Registry
from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig

if TYPE_CHECKING:
    from dcf.tools.connection import Connection

_LISTING_S = 30.0
_CONNECTION = "dcf.tools.connection"
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds between repetitions: ``first_s``, doubled each time, at most ``most_s``."""

    first_s: float = 0.2
    most_s: float = 5.0

    def pause(self, repetition: int) -> float:
        """Before the repetition with this number (from 0): 0.2, 0.4, 0.8, …, 5.0."""
        return min(self.most_s, self.first_s * 2.0**repetition)


_EGRESS = EgressRules()
_BACKOFF = Backoff()


class Toolbox:
    """The tools of a registry, for as many tasks at once as there are.

    ::

        async with Toolbox(registry) as toolbox:
            result = await toolbox.call(
                "web", "search", {"query": "x"}, idempotency_key="wf/Find/1/1/0", fence=7,
                timeout_s=30,
            )

    Connections open with the first call to a server, and again after they were lost. A call is
    sent again, as often as the registry's ``retries`` for the server, only where the server surely
    did not get it, or the tool may be called twice.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        egress: EgressRules = _EGRESS,
        backoff: Backoff = _BACKOFF,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        fresh_s: float = 30.0,
    ) -> None:
        self._registry = registry
        self._egress = egress
        self._backoff = backoff
        self._sleep = sleep
        self._fresh_s = fresh_s
        self._connections: dict[str, list[Connection]] = {}
        self._living: list[Connection] = []
        self._closed = False

    @property
    def registry(self) -> Registry:
        """The servers that can be called."""
        return self._registry

    @property
    def closed(self) -> bool:
        """Whether nothing can be called any more."""
        return self._closed

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
        idempotent: bool = False,
        node: str | None = None,
        programs: Sequence[str] | None = None,
    ) -> ToolResult:
        """The tool's answer; an error of the tool itself is a result with ``is_error``.

        ``timeout_s`` (seconds; lowered to the registry's own limit for the server) covers opening
        a connection and repetitions too. Key, fence, and ``node`` and
        ``programs`` where there are any, travel in the call's ``_meta``.
        ``idempotent`` says that the tool may be called twice; its server's annotations
        (idempotentHint, readOnlyHint) say so too. Raises ``UnknownServer``, ``ToolTimeout``,
        ``ToolResultTooLarge``, and ``ToolUnavailable``, after which it is not known whether the
        server did the call, unless its ``sent`` is false: repeat it with the same key.
        """
        meta: dict[str, Any] = {IDEMPOTENCY_KEY: idempotency_key, FENCE: fence}
        if node is not None:
            meta[NODE] = node
        if programs is not None:
            meta[PROGRAMS] = list(programs)

        def may_repeat(connection: Connection) -> bool:
            return idempotent or connection.may_repeat(tool_name)

        return await self._within(
            server_id,
            tool_name,
            timeout_s,
            lambda connection: connection.call(tool_name, arguments, meta),
            may_repeat,
        )

    async def list_tools(self, server_id: str) -> list[ToolDescription]:
        """The tools of a server as it lists them now. Raises as ``call`` does."""
        return await self._within(
            server_id, "tools/list", _LISTING_S, lambda connection: connection.list_tools()
        )

    async def describe(
        self, server_id: str, tool_name: str, *, timeout_s: float = _LISTING_S
    ) -> ToolDescription | None:
        """One tool as its server lists it, or listed it at most ``fresh_s`` seconds ago when it
        has not told of a change; None when it is not listed.

        Raises as ``call`` does.
        """
        return await self._within(
            server_id,
            "tools/list",
            timeout_s,
            lambda connection: connection.describe(tool_name, self._fresh_s),
        )

    async def close(self) -> None:
        """Close all connections; calls under way fail as unavailable."""
        self._closed = True
        living, self._living = self._living, []
        self._connections.clear()
        await asyncio.gather(*(connection.close() for connection in living))

    async def _within(
        self,
        server_id: str,
        name: str,
        timeout_s: float,
        use: Callable[[Connection], Awaitable[_Answer]],
        may_repeat: Callable[[Connection], bool] = lambda _connection: True,
    ) -> _Answer:
        """Use a connection to the server, and another where the request may be sent again."""
        config = self._registry.server(server_id)
        limit = timeout_s if config.timeout_s is None else min(timeout_s, config.timeout_s)
        try:
            async with asyncio.timeout(limit):
                return await self._repeated(config, use, may_repeat)
        except TimeoutError:
            raise ToolTimeout(server_id, name, limit) from None

    async def _repeated(
        self,
        config: ServerConfig,
        use: Callable[[Connection], Awaitable[_Answer]],
        may_repeat: Callable[[Connection], bool],
    ) -> _Answer:
        await _load_sdk()
        from dcf.tools.connection import SessionLost

        repetitions = 0
        forgotten = False
        while True:
            connection = self._connection(config)
            try:
                return await use(connection)
            except SessionLost:
                # The server is there, and has only forgotten us: no reason to wait.
                connection.retire()
                if forgotten:
                    raise
                forgotten = True
            except ToolUnavailable as error:
                connection.retire()
                again = not error.sent or may_repeat(connection)
                if not again or repetitions >= config.retries:
                    raise
                await self._sleep(self._backoff.pause(repetitions))
                repetitions += 1

    def _connection(self, config: ServerConfig) -> Connection:
        """The connection with the fewest calls under way; a new one while the pool has room and
        all others are in use."""
        from dcf.tools.connection import Connection

        if self._closed:
            raise ToolUnavailable(config.id, config.place, "the toolbox is closed", sent=False)
        if config.refused:
            raise ToolUnavailable(config.id, config.place, config.refused, sent=False)
        if config.absent:
            raise ToolUnavailable(config.id, config.place, config.absent, sent=False)
        pool = [one for one in self._connections.get(config.id, ()) if one.usable]
        idlest = min(pool, key=lambda one: one.in_flight, default=None)
        if idlest is None or (idlest.in_flight and len(pool) < config.connections):
            idlest = Connection(config, self._egress)
            pool.append(idlest)
            self._living = [one for one in self._living if one.living] + [idlest]
        self._connections[config.id] = pool
        return idlest


async def _load_sdk() -> None:
    """Import what needs the MCP SDK, which takes a second, without holding up the event loop."""
    if _CONNECTION not in sys.modules:
        await asyncio.to_thread(importlib.import_module, _CONNECTION)
