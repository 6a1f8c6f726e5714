"""The stub over real HTTP, spoken to with the MCP SDK's own client."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from dcf.tools.stub import create_stub_app

Serving = Callable[..., AbstractAsyncContextManager[str]]
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


async def get(address: str, path: str) -> Any:
    async with httpx2.AsyncClient() as http:
        return (await http.get(address + path)).json()


@ERAS
async def test_a_server_shows_its_tools_under_their_own_names(stub: str, mode: str) -> None:
    async with Client(f"{stub}/mcp/web", mode=mode) as client:
        [tool] = (await client.list_tools()).tools
        assert (tool.name, tool.description) == ("search", "Search the web.")
        assert tool.input_schema["required"] == ["query"]
        answer = await client.call_tool("search", {"query": "y"})
        assert answer.structured_content == {"items": []}
        assert json.loads(answer.content[0].text) == {"items": []}


async def test_both_generations_of_the_protocol_are_spoken(stub: str) -> None:
    async with Client(f"{stub}/mcp/web") as new, Client(f"{stub}/mcp/web", mode="legacy") as old:
        assert new.protocol_version == "2026-07-28"
        assert old.protocol_version < "2026"


@ERAS
async def test_all_servers_together_keep_every_tool(stub: str, mode: str) -> None:
    async with Client(f"{stub}/mcp", mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert sorted(names) == ["count", "list", "math.search", "text", "web.search"]
        answer = await client.call_tool("math.search", {})
        assert answer.content[0].text == "in numbers"


async def test_results_that_are_no_objects_keep_their_type(stub: str) -> None:
    async with Client(f"{stub}/mcp/math") as client:
        values = [
            (await client.call_tool(name, {})).structured_content
            for name in ("count", "text", "list")
        ]
        assert values == [7, "123", [1, "a", None]]


@ERAS
async def test_an_error_is_a_result_with_code_and_message(stub: str, mode: str) -> None:
    async with Client(f"{stub}/mcp/web", mode=mode) as client:
        answer = await client.call_tool("search", {"query": "lost"})
        assert answer.is_error
        assert answer.structured_content["code"] == "NotFound"
        wrong = await client.call_tool("search", {"query": 1})
        assert wrong.structured_content["code"] == "InvalidArguments"
        unknown = await client.call_tool("serach", {})
        assert unknown.structured_content["code"] == "UnknownTool"


@ERAS
async def test_the_call_log_proves_what_was_done_once(stub: str, mode: str) -> None:
    meta: Any = {"dcf/idempotency_key": "wf/Find/1/1/0", "dcf/fence": 3}
    async with Client(f"{stub}/mcp/web", mode=mode) as client:
        first = await client.call_tool("search", {"query": "x"}, meta=meta)
        again = await client.call_tool("search", {"query": "x"}, meta={**meta, "dcf/fence": 4})
    assert first.structured_content == again.structured_content
    calls = (await get(stub, "/calls"))["calls"]
    assert [(c["idempotency_key"], c["fence"], c["replayed"]) for c in calls] == [
        ("wf/Find/1/1/0", 3, False),
        ("wf/Find/1/1/0", 4, True),
    ]
    assert (calls[0]["server"], calls[0]["tool"], calls[0]["case"]) == ("web", "search", "found")
    assert calls[0]["arguments"] == {"query": "x"}


async def test_metrics_count_by_case_and_can_be_reset(stub: str) -> None:
    async with Client(f"{stub}/mcp") as client:
        for query in ("x", "y", "lost"):
            await client.call_tool("web.search", {"query": query})
        await client.call_tool("count", {})
    metrics = await get(stub, "/metrics")
    assert metrics["tool_calls"] == {"math:count": 1, "web:search": 3}
    assert metrics["case_hits"] == {
        "math:count:default": 1,
        "web:search:default": 1,
        "web:search:found": 1,
        "web:search:lost": 1,
    }
    assert metrics["errors"] == {"web:search": 1}
    async with httpx2.AsyncClient() as http:
        assert (await http.post(f"{stub}/metrics/reset")).status_code == 200
    assert (await get(stub, "/metrics"))["totals"]["tool_calls"] == 0


async def test_health_counts_what_is_served(stub: str, stub_config: Path) -> None:
    assert await get(stub, "/healthz") == {
        "status": "ok",
        "error": None,
        "servers": 2,
        "tools": 5,
        "cases": 4,
        "config": str(stub_config),
        "config_error": None,
    }


def rewrite(file: Path, text: str) -> None:
    file.write_text(text)


async def test_a_changed_configuration_is_served_at_once_and_a_broken_one_is_told(
    stub: str, stub_config: Path
) -> None:
    tools = {"new": {"defaultResponse": {"a": 1}}}
    document = {"servers": {"math": {"tools": tools}, "empty": {"tools": {}}}}
    async with Client(f"{stub}/mcp/math", cache=None) as client:
        rewrite(stub_config, json.dumps(document))
        assert [tool.name for tool in (await client.list_tools()).tools] == ["new"]
        rewrite(stub_config, "{ broken")
        answer = await client.call_tool("new", {})
        assert answer.structured_content == {"a": 1}
    health = await get(stub, "/healthz")
    assert (health["status"], health["tools"]) == ("degraded", 1)
    assert health["config_error"][0]["code"] == "TOOL_STUB_SYNTAX"
    assert health["config_error"][0]["line"] == 1


async def test_an_unknown_server_is_not_found_and_the_known_ones_are_listed(stub: str) -> None:
    async with httpx2.AsyncClient() as http:
        response = await http.post(f"{stub}/mcp/nowhere", json={})
    assert response.status_code == 404
    assert response.json()["servers"] == ["math", "web"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://localhost:3000"}, 403),
        ({"host": "localhost:3000", "origin": "http://localhost:3000"}, 200),
        ({"host": "[::1]:8765"}, 200),
    ],
)
async def test_web_pages_of_other_origins_are_kept_out(
    stub: str, headers: dict[str, str], status: int
) -> None:
    async with httpx2.AsyncClient() as http:
        assert (await http.get(f"{stub}/calls", headers=headers)).status_code == status


async def test_with_a_token_everything_but_health_wants_it(
    stub_config: Path, serving: Serving
) -> None:
    async with (
        serving(create_stub_app(stub_config, token="t0ken")) as address,
        httpx2.AsyncClient() as http,
    ):
        refused = await http.get(f"{address}/calls")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Bearer realm="dcf"'
        wrong = {"authorization": "Bearer t0ke"}
        assert (await http.post(f"{address}/mcp", headers=wrong)).status_code == 401
        right = {"authorization": "Bearer t0ken"}
        assert (await http.get(f"{address}/calls", headers=right)).status_code == 200
        assert (await http.get(f"{address}/healthz")).status_code == 200
