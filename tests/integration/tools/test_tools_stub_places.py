"""Where the stub serves what: its paths, its metrics for monitoring, its reset."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx2
import pytest
from mcp import Client

from dcf.tools.stub import WrongPlace, create_stub_app, place_from

Serving = Callable[..., AbstractAsyncContextManager[str]]
SCRAPER = (
    "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"
)
LINE = re.compile(r'[a-z_]+\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\} \d+')


async def test_metrics_are_text_for_prometheus_and_json_for_everybody_else(stub: str) -> None:
    async with Client(f"{stub}/mcp/web") as client:
        for query in ("x", "lost"):
            await client.call_tool("search", {"query": query})
    async with httpx2.AsyncClient() as http:
        asked = await http.get(f"{stub}/metrics?format=prometheus")
        scraped = await http.get(f"{stub}/metrics", headers={"accept": SCRAPER})
        plain = await http.get(f"{stub}/metrics")
    assert plain.json()["totals"]["tool_calls"] == 2
    assert asked.text == scraped.text
    assert scraped.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = scraped.text.splitlines()
    assert 'dcf_stub_tool_calls_total{server="web",tool="search"} 2' in lines
    assert 'dcf_stub_case_hits_total{server="web",tool="search",case="found"} 1' in lines
    assert 'dcf_stub_errors_total{server="web",tool="search"} 1' in lines
    # The text exposition format: comments, or a name with labels and a number.
    assert all(line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line) for line in lines)
    assert scraped.text.endswith("\n")


async def test_the_path_of_the_protocol_can_be_chosen(stub_config: Path, serving: Serving) -> None:
    async with serving(create_stub_app(stub_config, mcp_path="tools/v1/")) as address:
        async with Client(f"{address}/tools/v1") as client:
            assert len((await client.list_tools()).tools) == 5
        async with Client(f"{address}/tools/v1/math") as client:
            assert (await client.call_tool("count", {})).structured_content == 7
        async with httpx2.AsyncClient() as http:
            assert (await http.post(f"{address}/mcp", json={})).status_code == 404


async def test_all_servers_together_take_the_name_with_its_server_too(stub: str) -> None:
    async with Client(f"{stub}/mcp") as client:
        for name in ("math.search", "math:search"):
            answer = await client.call_tool(name, {})
            assert answer.content[0].text == "in numbers"
        clash = await client.call_tool("search", {})
        assert clash.structured_content["code"] == "UnknownTool"


def test_the_environment_names_of_the_earlier_stub_are_honoured(tmp_path: Path) -> None:
    usual = tmp_path / "stub_config.json"
    assert place_from({}, usual).config == usual
    place = place_from(
        {
            "STUB_CONFIG": "/etc/stub.json",
            "STUB_MCP_HOST": "0.0.0.0",
            "STUB_MCP_PORT": "9000",
            "STUB_MCP_PATH": "/tools",
        },
        usual,
    )
    assert (str(place.config), place.host, place.port, place.path) == (
        "/etc/stub.json", "0.0.0.0", 9000, "/tools",
    )  # fmt: skip


@pytest.mark.parametrize("port", ["x", "-1", "65536", "8 765", "9" * 5_000])
def test_a_port_that_is_none_is_told(port: str, tmp_path: Path) -> None:
    with pytest.raises(WrongPlace, match="STUB_MCP_PORT"):
        place_from({"STUB_MCP_PORT": port}, tmp_path / "x")
