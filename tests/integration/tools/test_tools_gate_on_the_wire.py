"""The gate before real servers: schemas that change, secrets, large results, chains of calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from commands import python
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from older_protocol import OldOnly

from dcf.tools import (
    Decision,
    Dispatcher,
    Gate,
    Grant,
    PermissionDenied,
    Policy,
    Registry,
    ResultLimits,
    SchemaPin,
    ServerConfig,
    Toolbox,
    ToolResult,
)

Serving = Callable[..., AbstractAsyncContextManager[str]]


class Ledger:
    """Notes decisions; there is no approval and no journal."""

    fence = 3

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def idempotency_key(self, number: int) -> str:
        return f"key/{number}"

    def approved(self, decision: Decision) -> str | None:
        return None

    async def recall(self, digest: str) -> ToolResult | None:
        return None

    async def note(self, decision: Decision) -> int | None:
        allowed = sum(one.allowed for one in self.decisions)
        self.decisions.append(decision)
        return allowed if decision.allowed else None

    async def settle(self, number: int, decision: Decision, result: ToolResult) -> None: ...

    async def failed(self, decision: Decision, error: str) -> None: ...


def bank() -> MCPServer:
    server = MCPServer("bank")

    @server.tool()
    def transfer(amount: int) -> str:
        """Move money."""
        return f"moved {amount}"

    @server.tool()
    def statement(lines: int) -> list[str]:
        return ["x" * 100] * lines

    return server


def changed(server: MCPServer) -> None:
    """Another tool of the same name, as after a release of the server."""
    server.remove_tool("transfer")

    @server.tool()
    def transfer(amount: int, account: str) -> str:
        """Move money from an account."""
        return f"moved {amount} from {account}"


GRANTS = [
    Grant("bank", "transfer", "skill.pay@1.0.0"),
    Grant("bank", "statement", "skill.pay@1.0.0"),
]


@pytest.mark.parametrize("kind", ["events", "json", "sse"])
async def test_a_tool_whose_schema_changed_since_it_was_locked_is_refused_with_the_difference(
    serving: Serving, kind: str
) -> None:
    server = bank()
    app = (
        server.sse_app()
        if kind == "sse"
        else server.streamable_http_app(json_response=kind == "json")
    )
    async with serving(app) as address:
        transport: Any = "sse" if kind == "sse" else "streamable_http"
        url = f"{address}/{'sse' if kind == 'sse' else 'mcp'}"
        registry = Registry([ServerConfig("bank", transport=transport, url=url)])
        async with Toolbox(registry, fresh_s=0) as box:
            listed = {tool.name: tool for tool in await box.list_tools("bank")}
            tool = listed["transfer"]
            pins = {"bank:transfer": SchemaPin(tool.input_schema, tool.output_schema)}
            ledger = Ledger()
            made = Dispatcher(Gate(GRANTS, servers=registry, pins=pins), box, ledger)
            assert (await made.call("bank", "transfer", {"amount": 5}, timeout_s=10)).data
            changed(server)
            with pytest.raises(PermissionDenied, match=r'\+ +"account"') as denied:
                await made.call("bank", "transfer", {"amount": 5}, timeout_s=10)
            assert denied.value.rule == "schema.changed"
            server.remove_tool("transfer")
            with pytest.raises(PermissionDenied) as gone:
                await made.call("bank", "transfer", {"amount": 5}, timeout_s=10)
            assert gone.value.rule == "schema.gone"
    assert [decision.verdict for decision in ledger.decisions] == ["allow", "deny", "deny"]


async def test_a_large_result_of_a_server_is_kept_and_referred_to(serving: Serving) -> None:
    kept: dict[str, bytes] = {}

    async def keep(content: bytes) -> str:
        kept["ref"] = content
        return "ref"

    async with serving(bank().streamable_http_app()) as address:
        registry = Registry([ServerConfig("bank", url=f"{address}/mcp")])
        async with Toolbox(registry) as box:
            gate = Gate(GRANTS, servers=registry)
            limits = ResultLimits(inline_bytes=10_000)
            made = Dispatcher(gate, box, Ledger(), limits=limits, keep=keep)
            result = await made.call("bank", "statement", {"lines": 1000}, timeout_s=10)
    assert json.loads(kept["ref"]) == ["x" * 100] * 1000
    assert (result.data["$ref"], result.data["size"]) == ("ref", len(kept["ref"]))
    assert len(result.text) == 1000


PROGRAM = """
import os
from mcp.server import MCPServer
server = MCPServer("vault")
@server.tool()
def read() -> str:
    return "the token is " + os.environ["VAULT_TOKEN"]
server.run("stdio")
"""


async def test_a_program_reached_with_a_secret_needs_a_skill_that_declares_it(
    tmp_path: Path,
) -> None:
    entry = {
        "transport": "stdio",
        "command": python(),
        "args": ["-c", PROGRAM],
        "environment": {"VAULT_TOKEN": "${MY_TOKEN}"},
    }
    file = tmp_path / "registry.json"
    file.write_text(json.dumps({"allowStdio": True, "servers": {"vault": entry}}))
    registry = Registry.load(file, {"MY_TOKEN": "t0p-s3cret", "OTHER": "x"})
    async with Toolbox(registry) as box:
        without = Gate([Grant("vault", "read", "skill.v@1.0.0")], servers=registry)
        with pytest.raises(PermissionDenied, match="MY_TOKEN"):
            await Dispatcher(without, box, Ledger()).call("vault", "read", {}, timeout_s=20)
        grant = Grant("vault", "read", "skill.v@1.0.0", secrets=("MY_TOKEN",))
        gate = Gate([grant], servers=registry, policy=Policy())
        result = await Dispatcher(gate, box, Ledger()).call("vault", "read", {}, timeout_s=20)
    assert result.text == "the token is [secret MY_TOKEN]"


async def test_a_server_with_sessions_that_tells_of_changed_tools_is_asked_again_at_once(
    serving: Serving,
) -> None:
    server = bank()

    @server.tool()
    async def release(context: Context[Any, Any]) -> str:
        changed(server)
        await context.request_context.session.send_tool_list_changed()
        return "done"

    async with serving(OldOnly(server.streamable_http_app())) as address:
        registry = Registry([ServerConfig("bank", url=f"{address}/mcp")])
        async with Toolbox(registry, fresh_s=3600) as box:
            before = await box.describe("bank", "transfer")
            await box.call("bank", "release", {}, idempotency_key="k", fence=1, timeout_s=10)
            async with asyncio.timeout(10):
                while (after := await box.describe("bank", "transfer")) == before:
                    await asyncio.sleep(0.01)
    assert after is not None
    assert "account" in after.input_schema["properties"]
