"""Servers that are not ours: made with the SDK, over SSE, as local programs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp.server import MCPServer
from pydantic import BaseModel

from dcf.tools import Registry, ServerConfig, Toolbox, ToolResult, ToolUnavailable

Serving = Callable[..., AbstractAsyncContextManager[str]]


class Counted(BaseModel):
    result: int


def sdk_server() -> MCPServer:
    """A server as people write them with the SDK, which wraps results that are no objects."""
    server = MCPServer("sdk")

    @server.tool()
    def numbers() -> list[int]:
        return [1, 2]

    @server.tool()
    def word() -> str:
        return "123"

    @server.tool()
    def own() -> Counted:
        return Counted(result=5)

    @server.tool()
    def broken() -> int:
        raise ValueError("out of ink")

    return server


@pytest.mark.parametrize(
    ("tool", "data"), [("numbers", [1, 2]), ("word", "123"), ("own", {"result": 5})]
)
async def test_results_of_servers_made_with_the_sdk_have_their_type(
    serving: Serving, tool: str, data: Any
) -> None:
    async with serving(sdk_server().streamable_http_app()) as address:
        box = Toolbox(Registry([ServerConfig("web", url=f"{address}/mcp")]))
        async with box:
            result = await box.call("web", tool, {}, idempotency_key="k", fence=1, timeout_s=10)
    assert result.data == data


@pytest.mark.parametrize(("tool", "text"), [("broken", "broken"), ("missing", "missing")])
async def test_what_such_a_server_reports_as_an_error_is_an_error_result(
    serving: Serving, tool: str, text: str
) -> None:
    async with serving(sdk_server().streamable_http_app()) as address:
        registry = Registry([ServerConfig("web", url=f"{address}/mcp")])
        async with Toolbox(registry) as box:
            result = await box.call("web", tool, {}, idempotency_key="k", fence=1, timeout_s=10)
    assert (result.is_error, result.error) == (True, "DCF.ToolError")
    assert text in result.text


async def test_the_older_sse_transport_works(serving: Serving) -> None:
    async with serving(sdk_server().sse_app()) as address:
        server = ServerConfig("web", transport="sse", url=f"{address}/sse")
        async with Toolbox(Registry([server])) as box:
            result = await box.call(
                "web", "numbers", {}, idempotency_key="k", fence=1, timeout_s=10
            )
    assert result.data == [1, 2]


STDIO_SERVER = """
import os, sys
from mcp.server import MCPServer
server = MCPServer("local")
@server.tool()
def echo() -> list[str]:
    return sys.argv[1:]
@server.tool()
def die() -> str:
    os._exit(3)
server.run("stdio")
"""


async def test_a_stdio_server_runs_without_a_shell_and_is_started_again_when_it_dies() -> None:
    args = ("-c", STDIO_SERVER, "$HOME", "a b; exit 1")
    server = ServerConfig("local", transport="stdio", command=sys.executable, args=args)

    async def call(tool: str) -> ToolResult:
        return await box.call("local", tool, {}, idempotency_key="k", fence=1, timeout_s=30)

    async with Toolbox(Registry([server])) as box:
        assert (await call("echo")).data == ["$HOME", "a b; exit 1"]
        with pytest.raises(ToolUnavailable):
            await call("die")
        assert (await call("echo")).data == ["$HOME", "a b; exit 1"]


async def test_a_program_that_is_not_there_is_unavailable() -> None:
    server = ServerConfig("local", transport="stdio", command="no-such-program-here")
    async with Toolbox(Registry([server])) as box:
        with pytest.raises(ToolUnavailable, match="no-such-program-here"):
            await box.call("local", "x", {}, idempotency_key="k", fence=1, timeout_s=10)
