"""One living connection to a tool server, shared by many tasks."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import httpx2
from anyio import BrokenResourceError, ClosedResourceError
from mcp import Client, MCPError
from mcp.client import Transport
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    CallToolResult,
    RequestParamsMeta,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from dcf.tools.ending import ending, look_at
from dcf.tools.errors import ToolResultTooLarge, ToolUnavailable
from dcf.tools.gate.egress import EgressRules
from dcf.tools.http_transport import SESSION_LOST, http_client, sse_http_client
from dcf.tools.large_result import MESSAGE_BYTES
from dcf.tools.meta import NOT_SENT, TOO_LARGE, UNAVAILABLE
from dcf.tools.reading import answer_fault, failed_result, read_result
from dcf.tools.redaction import Redactor
from dcf.tools.result import ToolDescription, ToolResult
from dcf.tools.server_config import ServerConfig
from dcf.tools.stdio_program import StdioProgram

# The SDK writes messages of servers into its log as they come, with the secrets they may echo;
# whatever goes wrong is told to the caller anyway.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)

_OPENING_S = 30.0
_CLOSING_S = 5.0
_ENDING_S = 1.0
_EVENT_TOO_LARGE = "Server-sent event exceeded"
"""How the SDK words that an event was larger than it takes."""
_PAGES = 100
_SSE_EVENT_BYTES = 1024 * 1024


class SessionLost(ToolUnavailable):
    """The server has restarted and forgot the session; the call was not done."""


class Connection:
    """A client that lives in a task of its own.

    The MCP client holds cancel scopes that belong to the task which opened it. Callers only
    exchange messages with that task, so a cancelled caller cannot break what the others use.
    Created inside a running event loop, where it starts to connect at once. Whatever it gives or
    raises is without the server's secrets.
    """

    def __init__(self, config: ServerConfig, egress: EgressRules) -> None:
        self._config = config
        self._egress = egress
        self._redactor = Redactor(config.secrets)
        self._program: StdioProgram | None = None
        self._failure = ""
        self._stop = asyncio.Event()
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._tools: dict[str, Tool] = {}
        self._listed_at = 0.0
        self._in_flight = 0
        self._retired = False
        self._task = asyncio.create_task(self._live(), name=f"dcf.tools {config.id}")
        self._task.add_done_callback(look_at)

    @property
    def usable(self) -> bool:
        """Whether new calls may go this way."""
        return not self._retired and not self._task.done() and not self._stop.is_set()

    @property
    def living(self) -> bool:
        """Whether it is not closed yet; one that is retired may still have calls under way."""
        return not self._task.done()

    @property
    def in_flight(self) -> int:
        """How many requests wait for their answer."""
        return self._in_flight

    async def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> ToolResult:
        """The tool's answer; an error that the server reports is a result too.

        Raises ``ToolResultTooLarge``, and ``ToolUnavailable``, as ``SessionLost`` when the call was
        surely not done.
        """
        with self._in_use():
            client = await self._opened()
            try:
                if tool not in self._tools:
                    await self._list(client)
                result = await client.call_tool(tool, arguments, meta=cast(RequestParamsMeta, meta))
            except MCPError as error:
                await self._raise_if_lost(error, tool)
                return self._redactor.result(failed_result(error.message, jsonrpc_code=error.code))
            except (BrokenResourceError, ClosedResourceError):
                raise self._unavailable(self._cause()) from None
            except (RuntimeError, ValidationError) as error:
                # The answer breaks the protocol, as the SDK says it, or the tool's own schema.
                if self._task.done():
                    raise self._unavailable(self._cause()) from None
                return self._redactor.result(failed_result(str(error), code="InvalidToolResult"))
        known = self._tools.get(tool)
        read = read_result(result, None if known is None else known.output_schema)
        return self._redactor.result(read)

    async def list_tools(self) -> list[ToolDescription]:
        """All tools as the server lists them now. Raises ``ToolUnavailable``."""
        with self._in_use():
            client = await self._opened()
            try:
                await self._list(client)
            except MCPError as error:
                await self._raise_if_lost(error, "tools/list")
                raise self._unavailable(error.message) from None
            except (BrokenResourceError, ClosedResourceError):
                raise self._unavailable(self._cause()) from None
        return [self._described(tool) for tool in self._tools.values()]

    async def describe(self, tool: str, fresh_s: float) -> ToolDescription | None:
        """One tool, by a list that is at most ``fresh_s`` seconds old; None when it is not there.

        Raises ``ToolUnavailable``.
        """
        await self._opened()
        if tool not in self._tools or asyncio.get_running_loop().time() - self._listed_at > fresh_s:
            await self.list_tools()
        known = self._tools.get(tool)
        return None if known is None else self._described(known)

    def may_repeat(self, tool: str) -> bool:
        """Whether the server says that calling the tool twice is the same as calling it once."""
        known = self._tools.get(tool)
        hints = None if known is None else known.annotations
        return hints is not None and bool(hints.idempotent_hint or hints.read_only_hint)

    def retire(self) -> None:
        """Take no more calls, and close after those that are under way."""
        self._retired = True
        self._end_if_idle()

    async def close(self) -> None:
        """Close now; calls under way fail as unavailable."""
        self._retired = True
        self._stop.set()
        if self._client.done():
            await asyncio.wait({self._task}, timeout=_CLOSING_S)
        # Still opening, or in no hurry to close: what it has started must end all the same.
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=_CLOSING_S)

    async def _live(self) -> None:
        async with asyncio.timeout(_OPENING_S) as opening, self._open() as client:
            # The SDK's own validation may take for ever: schema and answer are both the server's.
            cast(Any, client.session).validate_tool_result = self._check_answer
            await self._list(client)
            opening.reschedule(None)
            self._client.set_result(client)
            await self._stop.wait()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Client]:
        config = self._config
        if config.transport == "stdio":
            self._program = StdioProgram(config, self._redactor)
            async with self._session(self._program.streams()) as client:
                yield client
        elif config.transport == "sse":
            stream = sse_client(config.url, httpx_client_factory=self._sse_http_client)
            async with self._session(stream) as client:
                yield client
        else:
            async with http_client(config, self._egress) as http:
                stream = streamable_http_client(
                    config.url, http_client=http, max_sse_event_size=MESSAGE_BYTES
                )
                async with self._session(stream) as client:
                    yield client

    def _session(self, transport: Transport) -> Client:
        return Client(transport, cache=None, message_handler=self._heed)

    async def _heed(self, message: object) -> None:
        """Ask for the tools again when the server says that they have changed."""
        if isinstance(message, ToolListChangedNotification):
            self._listed_at = -math.inf

    def _sse_http_client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        """Ours in place of the SDK's: what the SDK would set, our configuration says."""
        return sse_http_client(self._config, self._egress, self._fail)

    def _fail(self, cause: str) -> None:
        """End the connection, which can no longer tell whose call went wrong."""
        self._failure = self._failure or cause
        self._stop.set()
        if not self._client.done():
            # Still opening, and the SDK would wait for an answer that does not come.
            self._task.cancel()

    async def _list(self, client: Client) -> None:
        self._tools = await _list_all(client)
        self._listed_at = asyncio.get_running_loop().time()

    async def _check_answer(self, tool: str, result: CallToolResult) -> None:
        """Raises RuntimeError for an answer that does not fit the tool's own schema."""
        known = self._tools.get(tool)
        fault = answer_fault(result, None if known is None else known.output_schema)
        if fault:
            raise RuntimeError(f"tool {tool} {fault}")

    async def _opened(self) -> Client:
        waiting: set[asyncio.Future[Any]] = {self._task, self._client}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if self._client.done():
            if self._task.done() or self._stop.is_set():
                raise self._unavailable(self._cause(), sent=False)
            return self._client.result()
        raise self._unavailable(self._cause(), sent=False)

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

    async def _raise_if_lost(self, error: MCPError, tool: str) -> None:
        """Raise for an error of the connection; return for one that the server reported."""
        data = error.data if isinstance(error.data, dict) else {}
        config = self._config
        if data.get(SESSION_LOST):
            raise SessionLost(config.id, config.place, error.message, sent=False) from None
        if data.get(TOO_LARGE) or _EVENT_TOO_LARGE in error.message:
            raise ToolResultTooLarge(config.id, tool, None, MESSAGE_BYTES) from None
        if data.get(UNAVAILABLE):
            raise self._unavailable(error.message, sent=not data.get(NOT_SENT)) from None
        if error.code == CONNECTION_CLOSED:
            if config.transport == "sse" and not self._cause():
                # The stream that all answers come by has ended; why is known in a moment.
                await asyncio.wait({self._task}, timeout=_ENDING_S)
            cause = self._cause()
            if _EVENT_TOO_LARGE in cause:
                raise ToolResultTooLarge(config.id, tool, None, _SSE_EVENT_BYTES) from None
            raise self._unavailable(cause or error.message) from None

    def _unavailable(self, cause: str, *, sent: bool = True) -> ToolUnavailable:
        cause = self._redactor.text(cause) or "the connection is closed"
        return ToolUnavailable(self._config.id, self._config.place, cause, sent=sent)

    def _cause(self) -> str:
        """What ended the connection, in one line; empty when nothing tells."""
        if self._failure:
            return self._failure
        if self._program is not None and self._program.end:
            return self._program.end
        return ending(self._task, _OPENING_S) if self._task.done() else ""

    def _described(self, tool: Tool) -> ToolDescription:
        return self._redactor.description(
            ToolDescription(
                tool.name, tool.description or "", dict(tool.input_schema), tool.output_schema
            )
        )


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
