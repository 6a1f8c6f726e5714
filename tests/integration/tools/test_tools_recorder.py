"""Recording a real MCP server, and playing the recording back."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypedDict

import pytest
from mcp import Client
from mcp.server import MCPServer

from dcf.skill_tests import Choice, make_plan, run_plan
from dcf.skills import generate_all
from dcf.tools import Registry, ServerConfig, Toolbox
from dcf.tools.recorder import (
    Proxy,
    Recording,
    Redaction,
    authored_tools,
    create_recorder_app,
    tools_text,
)
from dcf.tools.stub import create_stub_app

Serving = Callable[..., AbstractAsyncContextManager[str]]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Quote(TypedDict):
    skus: list[str]
    total: float


def shop() -> MCPServer:
    """A server as people write them with the SDK."""
    server = MCPServer("shop")
    polls: dict[str, int] = {}

    @server.tool()
    def quote(skus: list[str], api_key: str = "") -> Quote:
        """Price goods."""
        return {"skus": skus, "total": 1.25e-7 * len(skus)}

    @server.tool()
    def poll(job: str) -> dict[str, Any]:
        """Say how a job stands."""
        polls[job] = polls.get(job, 0) + 1
        return {"job": job, "state": "done" if polls[job] > 2 else "pending"}

    @server.tool()
    def words(count: int) -> str:
        """Give words."""
        return "12" * count

    @server.tool()
    def broken() -> str:
        """Fail."""
        raise ValueError("the vault says sesame-open")

    return server


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("quote", {"skus": ["B", "A"]}),
    ("quote", {"skus": [], "api_key": "sesame-open"}),
    ("words", {"count": 2}),
    ("broken", {}),
    ("poll", {"job": "J"}),
    ("poll", {"job": "J"}),
    ("poll", {"job": "J"}),
]


@asynccontextmanager
async def recorded(serving: Serving, recording: Recording) -> AsyncIterator[str]:
    """The address of a recorder in front of the shop."""
    keys = map(str, itertools.count())
    async with (
        serving(shop().streamable_http_app(stateless_http=True)) as real,
        Toolbox(Registry([ServerConfig("shop", url=f"{real}/mcp")])) as toolbox,
    ):
        proxy = Proxy(toolbox, "shop", recording, new_key=lambda: next(keys), on_news=_nothing)
        async with serving(create_recorder_app(proxy)) as address:
            yield address


def _nothing() -> None:
    return


async def answers(address: str, mode: str = "auto") -> list[tuple[bool, Any, str]]:
    async with Client(f"{address}/mcp", mode=mode) as client:
        await client.list_tools()
        given = [await client.call_tool(name, arguments) for name, arguments in CALLS]
    return [(one.is_error, one.structured_content, one.content[0].text) for one in given]


@ERAS
async def test_a_client_sees_the_server_through_the_recorder(serving: Serving, mode: str) -> None:
    async with serving(shop().streamable_http_app(stateless_http=True)) as real:
        direct = await answers(real, mode)
    async with recorded(serving, Recording()) as address:
        through = await answers(address, mode)
    assert [one[0] for one in through] == [one[0] for one in direct]
    assert [one[1] for one in through if not one[0]] == [one[1] for one in direct if not one[0]]


async def test_a_recording_is_a_valid_tools_file_that_answers_as_the_server_did(
    serving: Serving, tmp_path: Path
) -> None:
    recording = Recording()
    async with recorded(serving, recording) as address:
        await answers(address)
    made = authored_tools(recording, Redaction(["sesame-open"]))
    sources = tmp_path / "skills_src"
    file = sources / "tools" / "shop.tools.yaml"
    text = tools_text(None, "shop", made, file)
    assert "sesame" not in text
    for name, content in {
        file: text,
        sources / "tools/_index.yaml": INDEX,
        sources / "registry.yaml": REGISTRY,
        sources / "skills/shop.skill.yaml": SKILL,
    }.items():
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(content)
    result = generate_all(sources, tmp_path / "generated")
    assert result.problems == ()

    # Every case of the recording answers what was recorded, by our own runner …
    report = await run_plan(make_plan(tmp_path / "generated", Choice()))
    assert report.ok, [one.to_dict() for one in report.outcomes if not one.ok]
    assert report.cases == (5, 5)

    # … and by the calls of before, through a client of ours: as through the real server.
    config = tmp_path / "generated/stub/stub_config.json"
    async with serving(create_stub_app(config)) as stub:
        played = await results(f"{stub}/mcp/shop")
    async with serving(shop().streamable_http_app(stateless_http=True)) as real:
        lived = await results(f"{real}/mcp")
    assert played == lived


async def results(url: str) -> list[Any]:
    async with Toolbox(Registry([ServerConfig("shop", url=url)])) as toolbox:
        found = []
        for number, (name, arguments) in enumerate(CALLS):
            result = await toolbox.call(
                "shop", name, arguments, idempotency_key=str(number), fence=0, timeout_s=20
            )
            found.append((result.is_error, None if result.is_error else result.data))
        return found


INDEX = "apiVersion: tools-index/v1\nkind: ToolsIndex\nfiles: [shop.tools.yaml]\n"
REGISTRY = """\
apiVersion: registry/v1
kind: ServerRegistry
servers:
  shop: {transport: streamable_http, endpoint: "http://127.0.0.1:8765", path: /mcp/shop}
"""
SKILL = """\
apiVersion: skill/v1
kind: Skill
metadata:
  manifestId: skill.shop.buy@1.0.0
  name: shop.buy
  version: 1.0.0
  description: Buy things.
spec:
  directives: Quote, then poll.
  tools: [{ref: "shop:quote"}, {ref: "shop:poll"}, {ref: "shop:words"}, {ref: "shop:broken"}]
"""
