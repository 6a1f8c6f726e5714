"""Tool calls of the platform's own MCP server: the official client over HTTP, on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

_IN_FLIGHT = 8


async def mcp_calls(url: str, scratch: Path, *, calls: int) -> list[Figure]:
    """Calls a second, one after another and eight in flight; server and client are processes of
    their own, as they are in use."""
    from mcp import Client

    figures = []
    async with _server(url, scratch) as address, Client(address) as client:
        await client.list_tools()
        for name, tool, arguments in (
            ("reading a document", "json_read", {"redis_key": "doc:bench"}),
            ("listing runs", "list_runs", {}),
        ):
            create = {"redis_key": "doc:bench", "initial_json": '{"a": 1}', "overwrite": True}
            await client.call_tool("json_create", create)
            for in_flight in (1, _IN_FLIGHT):
                rate = await _rate(client, tool, arguments, calls, in_flight)
                label = f"MCP: {name}, {in_flight} in flight"
                figures.append(Figure(label, rate, "calls/s"))
    return figures


async def _rate(
    client: Any, tool: str, arguments: dict[str, Any], calls: int, in_flight: int
) -> float:
    async def work() -> None:
        for _ in range(calls // in_flight):
            answer = await client.call_tool(tool, arguments)
            if answer.is_error:
                raise RuntimeError(str(answer.structured_content))

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return calls / (time.perf_counter() - began)


@asynccontextmanager
async def _server(url: str, scratch: Path) -> AsyncIterator[str]:
    env = {**os.environ, "DCF_HOME": str(scratch / "mcp"), "DCF_REDIS_URL": url}
    env.pop("DCF_TOKEN", None)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dcf.cli", "serve", "--port", "0",
        env=env, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        ready = json.loads(await process.stdout.readline())
        yield str(ready["url"])
    finally:
        process.terminate()
        await process.wait()
