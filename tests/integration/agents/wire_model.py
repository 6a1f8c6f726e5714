"""A model server on loopback whose answers are scripted, in the wire formats of two providers.

``POST …/chat/completions`` answers as OpenAI documents it (also as a stream), ``POST …/messages``
as Anthropic does. It speaks HTTP by itself, so that it can also break off.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """An answer: text, or calls of tools as (name, arguments); a string as arguments goes out as it
    is. ``usage`` are input and output tokens, None for a server that does not count; ``cached`` of
    the input came from the provider's cache. It comes after ``after_s`` seconds."""

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    usage: tuple[int, int] | None = (100, 20)
    cached: int = 0
    after_s: float = 0.0


@dataclass(frozen=True)
class Refuse:
    """An error: an HTTP status, what the provider says, and headers."""

    status: int
    message: str = "no"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drop:
    """The connection ends without an answer; the request was read."""


@dataclass(frozen=True)
class Garble:
    """A body that is not what the format says."""

    body: str = "<html>gateway</html>"
    content_type: str = "text/html"


Answer = Say | Refuse | Drop | Garble
Script = Callable[[Body], Answer]


def call(tool: str, arguments: Any = None, **more: Any) -> Say:
    """An answer that calls one tool."""
    return Say(calls=((tool, arguments or {}),), **more)


class WireModel:
    """What the server was asked, and what it says next: a list in order, or a function of the
    request."""

    def __init__(self, script: Iterable[Answer] | Script) -> None:
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self._script: Script
        if callable(script):
            self._script = script
        else:
            answers = iter(script)
            self._script = lambda _body: next(answers, Refuse(400, "the script is over"))
        self._ids = itertools.count(1)
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        # Cancelled when the loop of a test ends: that is an orderly end of a connection too.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        path = head[0].split()[1]
        if (fixed := self.fixed(path, body)) is not None:
            await self._write(writer, 200, "application/json", json.dumps(fixed).encode(), {})
            return True
        self.requests.append(body)
        self.headers.append(headers)
        answer = self._script(body)
        if isinstance(answer, Drop):
            return False
        if isinstance(answer, Say):
            await asyncio.sleep(answer.after_s)
        await self._write(writer, *self._written(path, body, answer))
        return True

    def fixed(self, path: str, body: Body) -> Body | None:
        """What is answered at ``path`` whatever the script says; None where the script answers."""
        return None

    async def _write(
        self,
        writer: asyncio.StreamWriter,
        status: int,
        type_: str,
        payload: bytes,
        more: Mapping[str, str],
    ) -> None:
        lines = [
            f"HTTP/1.1 {status} X",
            f"content-type: {type_}",
            f"content-length: {len(payload)}",
        ]
        lines += [f"{name}: {value}" for name, value in more.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + payload)
        await writer.drain()

    def _written(
        self, path: str, body: Body, answer: Say | Refuse | Garble
    ) -> tuple[int, str, bytes, Mapping[str, str]]:
        if isinstance(answer, Garble):
            return 200, answer.content_type, answer.body.encode(), {}
        anthropic = path.endswith("/messages")
        if isinstance(answer, Refuse):
            error: Body = {"message": answer.message, "type": "error", "code": answer.code}
            said = {"type": "error", "error": error} if anthropic else {"error": error}
            return answer.status, "application/json", json.dumps(said).encode(), answer.headers
        number = next(self._ids)
        if anthropic:
            said = _anthropic(body, answer, number)
        elif body.get("stream"):
            return 200, "text/event-stream", _openai_stream(body, answer, number), {}
        else:
            said = _openai(body, answer, number)
        return 200, "application/json", json.dumps(said).encode(), {}


@asynccontextmanager
async def serving_model(script: Iterable[Answer] | Script) -> AsyncIterator[WireModel]:
    """A model server on a free port until the block ends; ``url`` is its base URL."""
    model = WireModel(script)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield model
    finally:
        server.close()


def _text_of(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _openai_message(answer: Say, number: int) -> Body:
    message: Body = {"role": "assistant", "content": answer.text}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": _text_of(arguments)},
            }
            for at, (name, arguments) in enumerate(answer.calls)
        ]
    return message


def _openai_usage(answer: Say) -> Body | None:
    if answer.usage is None:
        return None
    given, answered = answer.usage
    details = {"prompt_tokens_details": {"cached_tokens": answer.cached}} if answer.cached else {}
    counts = {"prompt_tokens": given, "completion_tokens": answered}
    return {**counts, "total_tokens": given + answered, **details}


def _openai(body: Body, answer: Say, number: int) -> Body:
    choice = {
        "index": 0,
        "message": _openai_message(answer, number),
        "finish_reason": "tool_calls" if answer.calls else "stop",
    }
    said = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1_790_000_000}
    said |= {"model": body["model"], "choices": [choice]}
    usage = _openai_usage(answer)
    return {**said, "usage": usage} if usage else said


def _openai_stream(body: Body, answer: Say, number: int) -> bytes:
    message = _openai_message(answer, number)
    for at, called in enumerate(message.get("tool_calls", ())):
        called["index"] = at
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1_790_000_000}
    head["model"] = body["model"]
    finish = "tool_calls" if answer.calls else "stop"
    chunks: list[Body] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
    ]
    usage = _openai_usage(answer)
    if usage and (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({"choices": [], "usage": usage})
    lines = [f"data: {json.dumps({**head, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _anthropic(body: Body, answer: Say, number: int) -> Body:
    content: list[Body] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(answer.calls)
    ]
    given, answered = answer.usage or (0, 0)
    usage = {"input_tokens": given - answer.cached, "output_tokens": answered}
    usage["cache_read_input_tokens"] = answer.cached
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }
