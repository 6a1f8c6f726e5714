"""LettaAgents on a real server, whose model server says the lines of a test.

`make test-letta` starts the server and names it: DCF_TEST_LETTA_URL with DCF_TEST_LETTA_TOKEN, and
the port of its model server, DCF_TEST_LETTA_MODEL_PORT. Everything on it is removed by each test.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from integration.agents.wire_model import Answer, Body, Refuse, Say, WireModel, call
from memory_world import Numbered, Ticking
from runtime_world import Calls, Says

from dcf.agents.letta import LettaAgents, LettaServer
from dcf.memory import Memory, Source, random_id

MODEL = "openai-proxy/scripted"
EMBEDDING = "openai/text-embedding-3-small"
_DIMENSIONS = 1536


class ServedModel(WireModel):
    """A model and an embedder that a Letta server finds at the address of OpenAI. ``choose`` may
    answer a prompt out of turn."""

    def __init__(self) -> None:
        super().__init__(self._next)
        self.lines: list[Answer] = []
        self.choose: Callable[[str], Answer | None] = lambda _: None
        self.asked_too_often = 0

    def fixed(self, path: str, body: Body) -> Body | None:
        if path.endswith("/models"):
            model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "dcf"}
            return {"object": "list", "data": [{**model, "context_length": 128_000}]}
        if path.endswith("/embeddings"):
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            size = body.get("dimensions") or _DIMENSIONS
            data = [
                {"object": "embedding", "index": at, "embedding": _vector(str(text), size)}
                for at, text in enumerate(texts)
            ]
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return {"object": "list", "model": body["model"], "data": data, "usage": usage}
        return None

    def _next(self, body: Body) -> Answer:
        chosen = self.choose(json.dumps(body, ensure_ascii=False))
        if chosen is not None:
            return chosen
        if not self.lines:
            self.asked_too_often += 1
            return Refuse(400, "the script is over")
        return self.lines.pop(0)


class LettaWorld:
    """A world of one server."""

    def __init__(self, runtime: LettaAgents, model: ServedModel) -> None:
        self.runtime = runtime
        self.model = model

    def script(self, *lines: Says | Calls | Answer) -> None:
        self.model.lines += [_said(line) for line in lines]

    def prompts(self) -> list[str]:
        return [json.dumps(body, ensure_ascii=False) for body in self.model.requests]


def letta_server(**settings: Any) -> LettaServer:
    """The server that the environment names."""
    given = {
        "url": os.environ["DCF_TEST_LETTA_URL"],
        "token": os.environ.get("DCF_TEST_LETTA_TOKEN"),
        "model": MODEL,
        "embedding": EMBEDDING,
    }
    return LettaServer(**{**given, **settings})


@asynccontextmanager
async def letta_world(folder: Path, **settings: Any) -> AsyncIterator[LettaWorld]:
    """A world on the server, empty; ``settings`` are those of LettaAgents."""
    async with Memory.open(
        Source(folder / "memory.db"), clock=Ticking(), new_id=Numbered()
    ) as memory:
        defaults = await memory.labels.defaults()
    model = ServedModel()
    port = int(os.environ["DCF_TEST_LETTA_MODEL_PORT"])
    serving = await asyncio.start_server(model.serve, "127.0.0.1", port, reuse_address=True)
    given = {"defaults": defaults, "new_id": random_id, **settings}
    runtime = LettaAgents(letta_server(), **given)
    try:
        await _clear(runtime)
        yield LettaWorld(runtime, model)
        assert model.asked_too_often == 0, "the model was asked more often than its script says"
    finally:
        await runtime.aclose()
        serving.close()


async def _clear(runtime: LettaAgents) -> None:
    client = await runtime.connection.client()
    for agent in [one async for one in client.agents.list(limit=200)]:
        await client.agents.delete(agent.id)
    hidden = {"show_hidden_blocks": True}
    for block in [one async for one in client.blocks.list(limit=200, extra_query=hidden)]:
        await client.blocks.delete(block.id)


def _said(line: Says | Calls | Answer) -> Answer:
    if isinstance(line, Says):
        return Say(line.text)
    return call(line.tool, line.arguments) if isinstance(line, Calls) else line


def _vector(text: str, size: int) -> list[float]:
    """Texts with words in common are close."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()):
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % size] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
