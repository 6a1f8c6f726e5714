"""From the stub to a real server: one line of the registry."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from mcp.server import MCPServer

from dcf.skills import SkillOrder, generate_all, new_skill
from dcf.tools import Registry, Toolbox
from dcf.tools.stub import create_stub_app

Serving = Callable[..., AbstractAsyncContextManager[str]]


def real_kettle() -> MCPServer:
    """A server as people write them with the SDK, its schema its own."""
    server = MCPServer("kettle")

    @server.tool()
    def boil(text: str) -> dict[str, Any]:
        return {"ok": True, "text": f"really boiled {text}"}

    return server


async def boiled(generated: Path, stub: str, server: str = "kettle", tool: str = "boil") -> Any:
    registry = Registry.load(generated / "registry.json", {"DCF_STUB_URL": stub})
    async with Toolbox(registry) as box:
        arguments = {"text": "example"}
        result = await box.call(server, tool, arguments, idempotency_key="k", fence=1, timeout_s=10)
    return result.data


async def test_one_line_leads_a_server_from_the_stub_to_the_real_one(
    tmp_path: Path, serving: Serving
):
    src, out = tmp_path / "skills_src", tmp_path / "generated"
    order = SkillOrder("tea.brew", ("kettle:boil", "cup:fill"))
    assert new_skill(src, out, order).problems == []
    assert generate_all(src, out).ok
    async with (
        serving(create_stub_app(out / "stub/stub_config.json")) as stub,
        serving(real_kettle().streamable_http_app()) as real,
    ):
        assert await boiled(out, stub) == {"ok": True, "text": "done"}

        registry = src / "registry.yaml"
        before = registry.read_text()
        registry.write_text(
            before.replace("${DCF_STUB_URL:-http://127.0.0.1:8765}/mcp/kettle", f"{real}/mcp")
        )
        changed = [
            line
            for line in difflib.ndiff(before.splitlines(), registry.read_text().splitlines())
            if line.startswith("+ ")
        ]
        assert len(changed) == 1
        assert generate_all(src, out).problems == ()

        assert (await boiled(out, stub))["text"] == "really boiled example"
        assert (await boiled(out, stub, "cup", "fill"))["text"] == "done"
