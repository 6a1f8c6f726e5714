"""Servers whose own output schemas should hang, exhaust or send away whoever validates by them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from dcf.tools import Registry, ServerConfig, Toolbox, ToolResult

Serving = Callable[..., AbstractAsyncContextManager[str]]

# Each level asks the next one twice: two to the power of thirty steps.
BRANCHING = {
    "type": "object",
    "$defs": {
        **{f"d{level}": {"anyOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(30)},
        "d30": {"const": "never"},
    },
    "properties": {"a": {"$ref": "#/$defs/d0"}},
}


def announcing(output_schema: dict[str, Any], structured: Any, seen: list[str]) -> Starlette:
    """A server with the one tool ``x``; ``seen`` has the paths of all other requests."""

    def answered(message: dict[str, Any]) -> dict[str, Any]:
        match message["method"]:
            case "initialize":
                version = message["params"]["protocolVersion"]
                about = {"name": "hostile", "version": "1"}
                return {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": about,
                }
            case "tools/list":
                tool = {"name": "x", "inputSchema": {"type": "object"}}
                return {"tools": [{**tool, "outputSchema": output_schema}]}
        return {"content": [], "structuredContent": structured}

    async def rpc(request: Request) -> Response:
        message = await request.json()
        if "id" not in message:
            return Response(status_code=202)
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] not in ("initialize", "tools/list", "tools/call"):
            return JSONResponse({**head, "error": {"code": -32601, "message": "unknown"}})
        return JSONResponse({**head, "result": answered(message)})

    async def other(request: Request) -> Response:
        seen.append(request.url.path)
        return JSONResponse({})

    routes = [
        Route("/mcp", rpc, methods=["POST"]),
        Route("/fetched/{name}", other, methods=["GET"]),
    ]
    return Starlette(routes=routes)


async def call(address: str) -> tuple[ToolResult, float]:
    """The result, and the most seconds of the processor between two turns of the loop."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.01)
            longest = max(longest, time.thread_time() - before)

    beating = asyncio.create_task(beat())
    try:
        async with Toolbox(Registry([ServerConfig("web", url=f"{address}/mcp")])) as box:
            result = await box.call("web", "x", {}, idempotency_key="k", fence=1, timeout_s=20)
    finally:
        beating.cancel()
    return result, longest


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|aa)+$"}}},
        {"type": "object", "patternProperties": {"^(a|aa)+$": {"type": "integer"}}},
        BRANCHING,
    ],
)
@pytest.mark.timeout(60)
async def test_a_schema_of_a_server_cannot_take_the_process_away(
    serving: Serving, schema: dict[str, Any]
) -> None:
    text = "a" * 60 + "!"
    async with serving(announcing(schema, {"a": text, text: "word"}, [])) as address:
        result, longest = await call(address)
    assert result.error == "InvalidToolResult"
    assert longest < 3


async def test_nothing_is_fetched_for_the_schema_of_a_server(serving: Serving) -> None:
    seen: list[str] = []
    async with serving(announcing({}, {}, seen)) as elsewhere:
        schema = {"type": "object", "properties": {"a": {"$ref": f"{elsewhere}/fetched/a"}}}
        async with serving(announcing(schema, {"a": 1}, seen)) as address:
            result, _ = await call(address)
    assert result.error == "InvalidToolResult"
    assert "nothing is fetched" in result.text
    assert seen == []


@pytest.mark.parametrize(
    ("structured", "told"),
    [({"a": 5}, "/a: 5 is not of type 'string'"), ({}, "/: 'a' is a required property")],
)
async def test_an_answer_that_breaks_its_own_schema_is_an_error_that_says_where(
    serving: Serving, structured: dict[str, Any], told: str
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    async with serving(announcing(schema, structured, [])) as address:
        result, _ = await call(address)
    assert (result.is_error, result.error) == (True, "InvalidToolResult")
    assert told in result.text
