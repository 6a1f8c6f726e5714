"""The memory of an experiment, called from outside: by MCP, with the client of the SDK, and as JSON
over HTTP."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from integration.tools.conftest import serving_app
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from memory_world import Numbered, Ticking

from dcf.mcp.experiment import CALLS, ExperimentDesk, create_experiment_app
from dcf.memory import OPERATIONS, Actor, Memory, Source
from dcf.tools.serving import Guard

TOKEN = "a token of some length"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[ExperimentDesk]:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        files = tmp_path / "files"
        files.mkdir()
        yield ExperimentDesk(memory, "lab", "exp-1", Actor("user", "ada", "served"), {}, files)


@pytest.fixture
async def url(desk: ExperimentDesk) -> AsyncIterator[str]:
    async with serving_app(create_experiment_app(desk, Guard())) as at:
        yield at


class Caller:
    """Posts JSON as a program that works in a node."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self.client, self.url = client, url

    async def __call__(self, name: str, node: str = "", **arguments: Any) -> dict[str, Any]:
        return await self.answered(200, name, node, **arguments)

    async def refused(self, name: str, node: str = "", **arguments: Any) -> dict[str, Any]:
        """The answer to a call that is wrong by itself."""
        return await self.answered(400, name, node, **arguments)

    async def answered(self, status: int, name: str, node: str, **arguments: Any) -> dict[str, Any]:
        headers = {"DCF-Node": node, "DCF-Actor": f"worker of {node}"} if node else {}
        answer = await self.client.post(
            f"{self.url}/operations/{name}", json=arguments, headers=headers
        )
        assert answer.status_code == status
        fields: dict[str, Any] = answer.json()
        return fields


@pytest.fixture
async def call(url: str) -> AsyncIterator[Caller]:
    async with httpx2.AsyncClient() as client:
        yield Caller(client, url)


async def test_http_has_the_shapes_that_callers_know(call: Caller, desk: ExperimentDesk) -> None:
    assert await call("get_experiment_context") == {}
    assert await call("seed_core_memory", context={"goal": "lower loss"}) == {"ok": True}
    assert (await call("get_experiment_context"))["goal"] == "lower loss"
    first = await call("add_memory", "root", node_id="root", text="The loss is flat.")
    assert first["ok"]
    refused = await call("add_memory", "A", node_id="root", text="Not true!")
    assert refused == {"ok": False, "error": "'root' is not the current node, which is 'A'"}
    nowhere = await call("add_memory", node_id="root", text="Not true!")
    assert nowhere["error"] == "there is no current node: send the header DCF-Node"
    more = await call("add_experiment_result", "B", node_id="B", text="a flat fig", metrics=[1])
    assert more["ok"]
    found = await call("search_memory", query="flat", ancestor_ids=["root"], limit=5)
    assert [one["entry_id"] for one in found["results"]] == [first["id"]]
    assert set(found["results"][0]) >= {"entry_id", "node_id", "text", "metadata", "score"}
    assert (await call("get_node_memory", node_id="B"))["entries"][0]["metadata"] == {
        "metrics": [1]
    }
    assert (await call("search_memory", query="flat", ancestor_ids=[])) == {"results": []}
    assert (await call("health"))["entries"] == 2
    events = await desk.memory.events.list(limit=1)
    assert (events[0].by.kind, events[0].by.name) == ("agent", "worker of B")


async def test_what_is_wrong_with_a_call_is_answered(call: Caller, url: str) -> None:
    wrong = await call.refused("search_memory", query="flat", ancestor_ids="root")
    assert not wrong["ok"] and wrong["error"].startswith("ancestor_ids: ")
    assert (await call.refused("get_node_memory"))["error"] == "node_id: is required"
    unknown = await call.refused("add_memory", "A", node_id="A", text="a", metdata={})
    assert not unknown["ok"] and "did you mean 'metadata'" in unknown["error"]
    assert "\n" not in unknown["error"] and unknown["hint"].startswith("nothing was done")
    ignored = await call("search_memory", query="", ancestor_ids=[], checkpoint_dir="/x")
    assert ignored["results"] == [] and "checkpoint_dir" in ignored["warnings"][0]
    kind = await call("add_memory", "A", node_id="A", text="a", kind="A kind")
    assert not kind["ok"] and "is no name" in kind["error"]
    assert "outside" in (await call("audit_memory", experiments_root="/"))["error"]
    for body, said in ((b"{", "no JSON"), (b"[]", "list, no JSON object")):
        answer = await call.client.post(f"{url}/operations/health", content=body)
        assert answer.status_code == 400 and said in answer.json()["error"]
    missing = await call.client.post(f"{url}/operations/search", json={})
    assert missing.status_code == 404 and not missing.json()["ok"]


async def test_mcp_and_http_have_the_operations_of_the_table(
    call: Caller, url: str, desk: ExperimentDesk
) -> None:
    expected = {name for name, one in OPERATIONS.items() if not one.of_caller}
    listed = (await call.client.get(f"{url}/operations")).json()["operations"]
    assert {one["name"] for one in listed} == expected
    async with Client(f"{url}/mcp") as client:
        tools = (await client.list_tools()).tools
        assert {one.name for one in tools} == expected
        for tool, one in zip(tools, listed, strict=True):
            assert tool.input_schema == one["arguments"]
            assert tool.description and len(tool.description) > 40
            undescribed = [
                name
                for name, field in tool.input_schema["properties"].items()
                if not field.get("description")
            ]
            assert undescribed == [], tool.name
        result = await client.call_tool("list_all_nodes", {})
        assert result.structured_content == {"by_node": {}} and not result.is_error
        refused = await client.call_tool("add_memory", {"node_id": "A", "text": "a"})
        assert refused.is_error and refused.structured_content["ok"] is False


async def test_a_token_is_asked_of_everybody(desk: ExperimentDesk) -> None:
    guard = Guard.asking(TOKEN)
    async with (
        serving_app(create_experiment_app(desk, guard)) as url,
        httpx2.AsyncClient() as client,
    ):
        for path in ("operations/health", "mcp"):
            assert (await client.post(f"{url}/{path}", json={})).status_code == 401
        headers = {"Authorization": f"Bearer {TOKEN}"}
        asked = await client.post(f"{url}/operations/health", json={}, headers=headers)
        assert asked.json()["ok"]
        assert (await client.get(f"{url}/healthz")).json() == {"status": "ok"}


async def test_over_stdio_the_client_says_in_which_node_it_works(tmp_path: Path) -> None:
    environment = {**os.environ, "DCF_HOME": str(tmp_path), "DCF_EMBEDDER": "none"}
    environment["ARI_CURRENT_NODE_ID"] = "A"
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dcf.cli", "memory", "serve", "exp-1", "--stdio"],
        env=environment,
        cwd=tmp_path,
    )
    async with Client(stdio_client(command)) as client:

        async def ask(name: str, **arguments: Any) -> dict[str, Any]:
            fields: dict[str, Any] = json.loads(
                (await client.call_tool(name, arguments)).content[0].text
            )
            return fields

        assert {one.name for one in (await client.list_tools()).tools} == set(CALLS)
        assert (await ask("add_memory", node_id="A", text="a plum"))["ok"]
        done = await ask("_set_current_node", node_id="B")
        assert done == {"ok": True, "current_node": "B"}
        assert not (await ask("add_memory", node_id="A", text="a fig"))["ok"]
        assert (await ask("add_memory", node_id="B", text="a fig"))["ok"]
        found = await ask("search_memory", query="plum fig", ancestor_ids=["A"])
        assert [one["text"] for one in found["results"]] == ["a plum"]
