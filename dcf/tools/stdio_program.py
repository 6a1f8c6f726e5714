"""A tool server that is a program on this machine, spoken to through its standard input and output.

It gets the environment of its ``ServerConfig`` and nothing else of ours; what it writes to
standard error goes to the log, without secrets; it ends with the connection, by force if need be.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, jsonrpc_message_adapter

from dcf.tools.large_result import MESSAGE_BYTES
from dcf.tools.meta import TOO_LARGE
from dcf.tools.redaction import Redactor
from dcf.tools.server_config import ServerConfig

log = logging.getLogger(__name__)

_GRACE_S = 2.0
_CHUNK = 64 * 1024
_LOGGED = 2_000
_LAST_WORDS = 3
_HEAD = re.compile(
    rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(?:(?P<n>\d{1,18})|"(?P<s>[^"\\]{1,99})")'
)
"""How an answer begins: enough to tell whose call a message belongs to that is too long to read."""

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class StdioProgram:
    """One run of the program of a server."""

    def __init__(self, config: ServerConfig, redactor: Redactor) -> None:
        self._config = config
        self._redactor = redactor
        self._process: asyncio.subprocess.Process | None = None
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)

    @property
    def end(self) -> str:
        """How the program ended, in one line; empty while it runs."""
        if self._process is None or self._process.returncode is None:
            return ""
        said = "; ".join(self._last_words)
        return f"the program ended with code {self._process.returncode}: {said}".rstrip(": ")

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """The transport that the MCP client speaks through. Raises OSError without a program."""
        self._process = await asyncio.create_subprocess_exec(
            self._config.command,
            *self._config.args,
            env=dict(self._config.environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            to_us, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
            write, to_program = anyio.create_memory_object_stream[SessionMessage](0)
            async with anyio.create_task_group() as tasks, read, write:
                tasks.start_soon(self._listen, self._process, to_us)
                tasks.start_soon(self._speak, self._process, to_program)
                tasks.start_soon(self._log, self._process)
                try:
                    yield read, write
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._stop(self._process)
                    tasks.cancel_scope.cancel()
        finally:
            _signal(self._process, signal.SIGKILL)
            # A grandchild may hold the pipes open; asyncio offers no other way to let go of them.
            self._process._transport.close()  # type: ignore[attr-defined]

    async def _listen(self, process: asyncio.subprocess.Process, to_us: Incoming) -> None:
        assert process.stdout is not None
        async with to_us:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for line in _lines(process.stdout):
                    await to_us.send(_read_message(line))
            with contextlib.suppress(TimeoutError):
                # So that callers are told the exit code when the stream closes behind this.
                await asyncio.wait_for(process.wait(), _GRACE_S)

    async def _speak(self, process: asyncio.subprocess.Process, to_program: Outgoing) -> None:
        assert process.stdin is not None
        async with to_program:
            async for message in to_program:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode(errors="replace") + b"\n")
                    await process.stdin.drain()
                except OSError:
                    return

    async def _log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in _lines(process.stderr, _CHUNK):
            text = self._redactor.text(line.decode(errors="replace").rstrip())[:_LOGGED]
            self._last_words.append(text)
            log.info("%s: %s", self._config.id, text)

    async def _stop(self, process: asyncio.subprocess.Process) -> None:
        """End of input, then SIGTERM, then SIGKILL, to the program and all it has started."""
        assert process.stdin is not None
        process.stdin.close()
        for force in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE_S)
            _signal(process, force)
        # Who closes the transport before asyncio knows of the end makes asyncio warn of a child
        # that somebody else has waited for.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _lines(stream: asyncio.StreamReader, limit: int = MESSAGE_BYTES) -> AsyncIterator[bytes]:
    """The lines of a stream; of a line longer than ``limit`` bytes its first ones."""
    parts: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            parts.append(end[: limit + 1 - size] if size <= limit else b"")
            yield b"".join(parts)
            parts, size = [], 0
        if rest and size <= limit:
            parts.append(rest)
            size += len(rest)
    if parts:
        yield b"".join(parts)


def _read_message(line: bytes) -> SessionMessage | Exception:
    """A message; for one that is too long, an error in its place to the call it answers."""
    try:
        if len(line) <= MESSAGE_BYTES:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as unreadable:
        return unreadable
    head = _HEAD.match(line)
    if head is None:
        return ValueError(f"a message of more than {MESSAGE_BYTES} bytes")
    number = int(head["n"]) if head["n"] else head["s"].decode(errors="replace")
    error = ErrorData(
        code=CONNECTION_CLOSED, message="the answer is too large", data={TOO_LARGE: MESSAGE_BYTES}
    )
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))
