"""One living connection to a tool server, shared by many tasks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, RequestParamsMeta, Tool
from pydantic import ValidationError

from dcf.tools.errors import ToolUnavailable
from dcf.tools.http_transport import SESSION_LOST, http_client
from dcf.tools.meta import UNAVAILABLE
from dcf.tools.reading import failed_result, read_result
from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig

_OPENING_S = 30.0
_CLOSING_S = 5.0
_SSE_IDLE_S = 86_400.0
_PAGES = 100


class SessionLost(ToolUnavailable):
    """The server has restarted and forgot the session; the call was not done."""


class Connection:
    """A client that lives in a task of its own.

    The MCP client holds cancel scopes that belong to the task which opened it. Callers only
    exchange messages with that task, so a cancelled caller cannot break what the others use.
    Created inside a running event loop, where it starts to connect at once.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._config = config
        self._stop = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._tools: dict[str, Tool] = {}
        self._in_flight = 0
        self._retired = False
        self._task = asyncio.create_task(self._live(), name=f"dcf.tools {config.id}")
        self._task.add_done_callback(_look_at)

    @property
    def usable(self) -> bool:
        """Whether new calls may go this way."""
        return not self._retired and not self._task.done()

    async def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> ToolResult:
        """The tool's answer; an error that the server reports is a result too.

        Raises ``ToolUnavailable``, as ``SessionLost`` when the call was surely not done.
        """
        client = await self._opened()
        try:
            with self._in_use():
                if tool not in self._tools:
                    self._tools = await _list_all(client)
                result = await client.call_tool(tool, arguments, meta=cast(RequestParamsMeta, meta))
        except MCPError as error:
            self._raise_if_lost(error)
            return failed_result(error.message, jsonrpc_code=error.code)
        except (RuntimeError, ValidationError) as error:
            # The SDK's way to say that the answer breaks the protocol or the tool's own schema.
            if self._task.done():
                raise self._unavailable(_cause(self._task)) from None
            return failed_result(str(error), code="InvalidToolResult")
        known = self._tools.get(tool)
        return read_result(result, None if known is None else known.output_schema)

    async def list_tools(self) -> list[ToolDescription]:
        """All tools as the server lists them now. Raises ``ToolUnavailable``."""
        client = await self._opened()
        try:
            with self._in_use():
                self._tools = await _list_all(client)
        except MCPError as error:
            self._raise_if_lost(error)
            raise self._unavailable(error.message) from None
        return [_described(tool) for tool in self._tools.values()]

    def retire(self) -> None:
        """Take no more calls, and close after those that are under way."""
        self._retired = True
        self._end_if_idle()

    async def close(self) -> None:
        """Close now; calls under way fail as unavailable."""
        self._retired = True
        self._stop.set()
        await asyncio.wait({self._task}, timeout=_CLOSING_S)
        self._task.cancel()

    async def _live(self) -> None:
        async with asyncio.timeout(_OPENING_S) as opening, _open(self._config) as client:
            self._tools = await _list_all(client)
            opening.reschedule(None)
            self._client.set_result(client)
            await self._stop.wait()

    async def _opened(self) -> Client:
        waiting: set[asyncio.Future[Any]] = {self._task, self._client}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            raise self._unavailable(_cause(self._task))
        return self._client.result()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._end_if_idle()

    def _end_if_idle(self) -> None:
        if self._retired and self._in_flight == 0:
            self._stop.set()

    def _raise_if_lost(self, error: MCPError) -> None:
        """Raise for an error of the connection; return for one that the server reported."""
        data = error.data if isinstance(error.data, dict) else {}
        if data.get(SESSION_LOST):
            raise SessionLost(self._config.id, self._config.place, error.message) from None
        if data.get(UNAVAILABLE):
            raise self._unavailable(error.message) from None
        if error.code == CONNECTION_CLOSED:
            raise self._unavailable(
                _cause(self._task) if self._task.done() else error.message
            ) from None

    def _unavailable(self, cause: str) -> ToolUnavailable:
        return ToolUnavailable(self._config.id, self._config.place, cause)


@asynccontextmanager
async def _open(config: ServerConfig) -> AsyncIterator[Client]:
    if config.transport == "stdio":
        program = StdioServerParameters(command=config.command, args=list(config.args))
        async with Client(stdio_client(program), cache=None) as client:
            yield client
    elif config.transport == "sse":
        stream = sse_client(config.url, headers=dict(config.headers), sse_read_timeout=_SSE_IDLE_S)
        async with Client(stream, cache=None) as client:
            yield client
    else:
        async with http_client(config) as http:
            stream = streamable_http_client(config.url, http_client=http)
            async with Client(stream, cache=None) as client:
                yield client


async def _list_all(client: Client) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools.update((tool.name, tool) for tool in page.tools)
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def _described(tool: Tool) -> ToolDescription:
    return ToolDescription(
        tool.name, tool.description or "", dict(tool.input_schema), tool.output_schema
    )


def _look_at(task: asyncio.Task[None]) -> None:
    """Take note of how a connection ended; callers report it, the event loop need not."""
    if not task.cancelled():
        task.exception()


def _cause(task: asyncio.Task[None]) -> str:
    """What ended a connection, in one line."""
    if task.cancelled():
        return "the connection was cancelled"
    error = task.exception()
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is None:
        return "the connection is closed"
    if isinstance(error, TimeoutError):
        return f"no answer to the opening within {_OPENING_S:g} s"
    if isinstance(error, MCPError):
        return error.message
    return f"{type(error).__name__}: {error}".rstrip(": ")
