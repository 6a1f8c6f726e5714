"""Tool calls of the platform's own MCP server: the official client over HTTP, on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure

_IN_FLIGHT = 8
_FLOW = json.dumps(
    {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "mcp:nobody", "End": True}}}
)


async def mcp_calls(url: str, scratch: Path, *, calls: int) -> list[Figure]:
    """Calls a second, one after another and eight in flight; server and client are processes of
    their own, as they are in use. A worker's turn is three calls, all of which write."""
    from mcp import Client

    figures = []
    async with _server(url, scratch) as address, Client(address) as client:
        await client.list_tools()
        desk = _Desk(client)
        await desk.use("json_create", redis_key="doc:bench", initial_json='{"a": 1}')
        for name, turn, size in (
            ("reading a document", desk.read, 1),
            ("writing a document", desk.write, 1),
            ("listing runs", desk.list_runs, 1),
            ("finding a skill", desk.find, 1),
            ("start, lease, hand-over", desk.work, 3),
        ):
            await turn()
            for in_flight in (1, _IN_FLIGHT):
                rate = size * await _rate(turn, calls // size, in_flight)
                label = f"MCP: {name}, {in_flight} in flight"
                figures.append(Figure(label, rate, "calls/s"))
    return figures


class _Desk:
    """What a client does with the server, a turn at a time."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._runs = 0

    async def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._client.call_tool(tool, arguments)
        if answer.is_error:
            raise RuntimeError(str(answer.structured_content))
        fields: dict[str, Any] = answer.structured_content
        return fields

    async def read(self) -> None:
        await self.use("json_read", redis_key="doc:bench")

    async def write(self) -> None:
        await self.use("json_set", redis_key="doc:bench", path="$.a", value_json="2")

    async def list_runs(self) -> None:
        await self.use("list_runs")

    async def find(self) -> None:
        await self.use("get_skillset", query="refund a customer", limit=3)

    async def work(self) -> None:
        """A run of one state, from its start to its end."""
        self._runs += 1
        name = f"mcp-{self._runs}"
        await self.use("create_workflow_control_plane", workflow_json=_FLOW, run_id=name)
        state = {"workflow_id": name, "state": "A"}
        taken = await self.use("acquire_state_lease", owner_agent_id="bench", **state)
        token = taken["lease"]["token"]
        done = {"new_status": "done", "output_json": '{"ok": true, "data": 1}'}
        await self.use("update_workflow_control_plane", lease_token=token, **done, **state)


async def _rate(turn: Callable[[], Awaitable[None]], turns: int, in_flight: int) -> float:
    """Turns a second."""

    async def work() -> None:
        for _ in range(turns // in_flight):
            await turn()

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return turns // in_flight * in_flight / (time.perf_counter() - began)


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
