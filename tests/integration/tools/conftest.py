"""Servers on loopback for the tests of this folder."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp

from dcf.tools.serving.listening import HttpProtocol
from dcf.tools.stub import create_stub_app

Serving = Callable[..., AbstractAsyncContextManager[str]]
Configure = Callable[[Any], Path]


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving_app(app: ASGIApp, port: int = 0) -> AsyncIterator[str]:
    """The address of ``app``, served by uvicorn in this event loop until the block ends."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    config = uvicorn.Config(
        app, http=HttpProtocol, log_level="critical", timeout_graceful_shutdown=0
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


TOOLS: dict[str, Any] = {
    "web": {
        "search": {
            "description": "Search the web.",
            "paramsSchema": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
            "resultSchema": {"type": "object", "properties": {"items": {"type": "array"}}},
            "defaultResponse": {"items": []},
            "cases": [
                {
                    "caseId": "found",
                    "match": {"strategy": "exact", "expr": "$.query", "value": "x"},
                    "response": {"items": [1], "id": "{{uuid}}"},
                },
                {
                    "caseId": "slow",
                    "match": {"strategy": "exact", "expr": "$.query", "value": "slow"},
                    "response": {"items": [2]},
                    "latencyMsOverride": 300,
                },
                {
                    "caseId": "hang",
                    "match": {"strategy": "exact", "expr": "$.query", "value": "hang"},
                    "errorMode": "timeout",
                },
                {
                    "caseId": "lost",
                    "match": {"strategy": "exact", "expr": "$.query", "value": "lost"},
                    "errorMode": "throw",
                    "errorCode": "NotFound",
                },
            ],
        }
    },
    "math": {
        "search": {"defaultResponse": "in numbers"},
        "count": {"defaultResponse": 7},
        "text": {"defaultResponse": "123"},
        "list": {"defaultResponse": [1, "a", None]},
    },
}


@pytest.fixture
def stub_config(tmp_path: Path) -> Path:
    """A configuration file with two servers that share a tool name."""
    file = tmp_path / "stub_config.json"
    servers = {server_id: {"tools": tools} for server_id, tools in TOOLS.items()}
    file.write_text(json.dumps({"seed": 1, "servers": servers}))
    return file


@pytest.fixture
async def stub(stub_config: Path) -> AsyncIterator[str]:
    """The address of a running stub."""
    async with serving_app(create_stub_app(stub_config)) as address:
        yield address


@pytest.fixture
def serving() -> Serving:
    """Serve any application: ``async with serving(app) as address``."""
    return serving_app
