"""A scripted model behind the APIs that coding agents speak, each as a stream of events:
Anthropic's Messages, OpenAI's Chat Completions and Responses, Gemini's generateContent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from integration.agents.wire_model import Body, Garble, Refuse, Say, WireModel

Plan = Sequence[tuple[str, Body]]
"""Calls of tools, with their arguments."""
_RESULTS = {"tool_result", "function_call_output"}


class CodingModel(WireModel):
    """Makes the calls of ``plan``, one for each request of a session, and ends it. A tool of an MCP
    server is named there as the server names it; each client puts something before that."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(self._next)
        self._plan = plan

    @property
    def sessions(self) -> list[Body]:
        """The requests of the session; clients ask for its title too, and offer no tools then."""
        return [body for body in self.requests if body.get("tools")]

    def fixed(self, path: str, body: Body) -> Body | None:
        if "count_tokens" in path:
            return {"input_tokens": 1}
        return None if body else {}

    def _next(self, body: Body) -> Say:
        done = len(results_in(body))
        if done < len(self._plan):
            tool, arguments = self._plan[done]
            for name in _offered(body):
                if name == tool or name.endswith(f"_{tool}"):
                    return Say(calls=((name, arguments),))
        return Say("Done.")

    def _written(
        self, path: str, body: Body, answer: Say | Refuse | Garble
    ) -> tuple[int, str, bytes, Mapping[str, str]]:
        route = path.partition("?")[0]
        if isinstance(answer, Say):
            if route.endswith("/responses"):
                return _streamed(_responses(body, answer, next(self._ids)))
            if route.endswith(":streamGenerateContent"):
                return _streamed([_gemini(answer)])
        written = super()._written(route, body, answer)
        if route.endswith("/messages") and body.get("stream"):
            return _streamed(_messages(json.loads(written[2])))
        return written


@asynccontextmanager
async def serving_coding_model(plan: Plan) -> AsyncIterator[CodingModel]:
    """On a free port until the block ends; ``url`` is its origin."""
    model = CodingModel(plan)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    model.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield model
    finally:
        server.close()


def results_in(body: Body) -> list[str]:
    """What the tools answered so far, as the client hands it on."""
    conversation = [body.get(name) for name in ("messages", "input", "contents")]
    return [
        json.dumps(one, ensure_ascii=False)
        for one in _objects(conversation)
        if one.get("type") in _RESULTS or one.get("role") == "tool" or "functionResponse" in one
    ]


def _objects(value: Any) -> Iterator[Body]:
    """The outermost first."""
    if isinstance(value, dict):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _objects(part)


def _offered(body: Body) -> Iterator[str]:
    """The names of all tools, those in groups too."""
    for tool in body.get("tools", ()):
        one = tool.get("function", tool)
        group = one.get("tools") or one.get("functionDeclarations")
        yield from (inner["name"] for inner in group) if group else [one.get("name", "")]


def _streamed(events: Iterable[Body]) -> tuple[int, str, bytes, Mapping[str, str]]:
    lines = []
    for event in events:
        named = f"event: {event['type']}\n" if "type" in event else ""
        lines.append(f"{named}data: {json.dumps(event)}\n\n")
    return 200, "text/event-stream", "".join(lines).encode(), {}


def _messages(message: Body) -> Iterator[Body]:
    """The events of a message of Anthropic."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {"text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            part = json.dumps(block["input"])
            empty, delta = {"input": {}}, {"type": "input_json_delta", "partial_json": part}
        at = {"index": index}
        yield {"type": "content_block_start", **at, "content_block": {**block, **empty}}
        yield {"type": "content_block_delta", **at, "delta": delta}
        yield {"type": "content_block_stop", **at}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _responses(body: Body, answer: Say, number: int) -> Iterator[Body]:
    """The events of a response of OpenAI. A tool in a namespace is called with that."""
    groups = {
        inner["name"]: tool["name"] for tool in body["tools"] for inner in tool.get("tools", ())
    }
    text = {"type": "output_text", "text": answer.text, "annotations": []}
    items: list[Body] = [{"type": "message", "role": "assistant", "content": [text]}]
    if answer.calls:
        items = [
            {
                "type": "function_call",
                "call_id": f"call_{number}_{at}",
                "name": name,
                "arguments": json.dumps(arguments),
                **({"namespace": groups[name]} if name in groups else {}),
            }
            for at, (name, arguments) in enumerate(answer.calls)
        ]
    items = [{"id": f"item_{number}", "status": "completed", **item} for item in items]
    response = {"id": f"resp_{number}", "object": "response", "model": body["model"]}
    yield {"type": "response.created", "response": {**response, "output": []}}
    for at, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    ended = {**response, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": ended}


def _gemini(answer: Say) -> Body:
    calls = [{"functionCall": {"name": name, "args": given}} for name, given in answer.calls]
    content = {"role": "model", "parts": calls or [{"text": answer.text}]}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage}
