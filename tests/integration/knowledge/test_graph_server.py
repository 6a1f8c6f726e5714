"""The graph's MCP server: nine tools over HTTP, with the client of the MCP SDK in both of its
protocols."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from commands import python
from integration.knowledge.shop import CHARGE, INSIGHT, MAILS, NEW, OLD, fill
from integration.knowledge.world import START
from integration.tools.conftest import serving_app
from mcp import Client
from redis import Redis

from control_plane import Outbox, RedisBackend, Store
from control_plane.embedded import Embedded
from dcf.cli.graph.serving import _beside, _wake
from dcf.cli.health import graph_server_health
from dcf.knowledge import (
    GRAPH,
    GraphAway,
    GraphConnection,
    GraphSetting,
    Knowledge,
    Privacy,
    TextEpisode,
    drain,
    edge_uuid,
    entity_uuid,
)
from dcf.knowledge.cypher import query
from dcf.mcp.graph import GraphDesk, create_graph_app
from dcf.tools.serving import Guard

TOOLS = {
    "add_memory": {
        "name",
        "episode_body",
        "group_id",
        "source",
        "source_description",
        "uuid",
        "reference_time",
    },
    "search_nodes": {"query", "group_ids", "max_nodes", "entity_types"},
    "search_memory_facts": {"query", "group_ids", "max_facts", "center_node_uuid"},
    "delete_entity_edge": {"uuid"},
    "delete_episode": {"uuid"},
    "get_entity_edge": {"uuid"},
    "get_episodes": {"group_ids", "max_episodes"},
    "clear_graph": {"group_ids"},
    "get_status": set(),
}
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(scope="module")
def shop(graph_server: str, redis_server: str) -> Iterator[str]:
    for url in (graph_server, redis_server):
        with Redis.from_url(url) as client:
            client.flushall()
    fill(graph_server)
    yield graph_server


@asynccontextmanager
async def desk_on(graph_url: str, redis_url: str) -> AsyncIterator[tuple[GraphDesk, Store]]:
    backend = RedisBackend.from_url(redis_url)
    async with GraphConnection(graph_url) as graph:
        desk = GraphDesk(graph, graph_url, Outbox(backend), Privacy(), clock=lambda: START)
        try:
            yield desk, Store(backend)
        finally:
            await desk.close()
            await backend.close()


class Site:
    """A server, a client of it, and what carries texts to the graph."""

    def __init__(self, desk: GraphDesk, store: Store, client: Client, url: str) -> None:
        self.desk, self.store, self.client, self.url = desk, store, client, url

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        fields: dict[str, Any] = json.loads(result.content[0].text)
        assert result.structured_content == fields
        assert result.is_error == ("error" in fields)
        return fields

    async def carry(self) -> None:
        """What a relay does all the time."""
        await drain(Knowledge(self.desk.graph), self.store, {}, clock=lambda: START)


@asynccontextmanager
async def site_on(shop: str, redis_url: str, mode: str = "auto") -> AsyncIterator[Site]:
    async with desk_on(shop, redis_url) as (desk, store):
        app = create_graph_app(desk, Guard(token=None))
        async with serving_app(app) as url, Client(f"{url}/mcp/", mode=mode) as client:
            yield Site(desk, store, client, url)


@BOTH
async def test_all_nine_tools_are_there_and_find_what_was_written(
    shop: str, redis_server: str, mode: str
) -> None:
    async with site_on(shop, redis_server, mode) as ask:
        listed = (await ask.client.list_tools()).tools
        assert {one.name: set(one.input_schema["properties"]) for one in listed} == TOOLS
        assert all(one.description for one in listed)
        found = await ask("search_memory_facts", query="which version failed at charge_payment")
        assert f"{NEW} failed at the task {CHARGE}." in [one["fact"] for one in found["facts"]]
        assert {"uuid", "name", "fact", "valid_at", "invalid_at", "group_id"} <= set(
            found["facts"][0]
        )
        assert "embedding" not in json.dumps(found)
        nodes = (await ask("search_nodes", query="charge payment", max_nodes=20))["nodes"]
        assert {OLD, NEW} <= {one["name"] for one in nodes}
        assert set(nodes[0]) == {
            "uuid", "name", "labels", "created_at", "summary", "group_id", "attributes",
        }  # fmt: skip
        assert (await ask("get_status"))["status"] == "ok"


async def test_earlier_groups_are_filters(shop: str, redis_server: str) -> None:
    async with site_on(shop, redis_server) as ask:
        only = await ask("search_nodes", query="charge payment", group_ids=["dcf_insights"])
        assert [one["name"] for one in only["nodes"]] == [INSIGHT.statement]
        typed = await ask("search_nodes", query="charge", entity_types=["TaskType"])
        assert all("TaskType" in one["labels"] for one in typed["nodes"])
        runs = await ask("get_episodes", group_ids=["dcf_executions"], max_episodes=3)
        assert len(runs["episodes"]) == 3
        assert all(one["source_description"] == "WorkflowRun" for one in runs["episodes"])
        none = await ask("search_memory_facts", query="charge", group_ids=["nobodys"])
        assert none == {"message": "No relevant facts found", "facts": []}


async def test_an_entity_at_the_center_brings_its_facts_forward(
    shop: str, redis_server: str
) -> None:
    async with site_on(shop, redis_server) as ask:
        center = entity_uuid("TaskType", "mail.send")
        words = "the task failed with an error"
        found = await ask("search_facts", query=words, center_node_uuid=center, max_facts=20)
        first = found["facts"][0]
        assert center in (first["source_node_uuid"], first["target_node_uuid"])


async def test_a_text_is_kept_without_secrets_and_found(shop: str, redis_server: str) -> None:
    async with site_on(shop, redis_server) as ask:
        content = "The harbour crane jams in frost. Ask ann@mail.example, password=Hunter2222."
        queued = await ask(
            "add_episode", name="Crane", content=content, group_id="notes", source="MESSAGE"
        )
        assert "queued" in queued["message"] and "'notes'" in queued["message"]
        raw = await ask.desk.outbox._backend.command("XRANGE", "cp:{outbox}:records", "-", "+")
        assert "ann@mail" not in str(raw) and "Hunter2222" not in str(raw)
        await ask.carry()
        [episode] = (await ask("get_episodes", group_ids=["notes"]))["episodes"]
        assert episode["source"] == "message" and episode["group_id"] == "notes"
        assert "[email]" in episode["content"] and "Hunter2222" not in json.dumps(episode)
        found = await ask("search_nodes", query="cranes in cold weather", group_ids=["notes"])
        assert [one["name"] for one in found["nodes"]] == ["Crane"]
        everywhere = await ask("search_nodes", query="harbour crane frost")
        assert everywhere["nodes"][0]["name"] == "Crane"
        gone = await ask("delete_episode", uuid=episode["uuid"])
        assert "'Crane' of group 'notes'" in gone["message"]
        assert (await ask("search_nodes", query="crane", group_ids=["notes"]))["nodes"] == []


async def test_texts_of_a_group_are_written_in_their_order_and_once(
    shop: str, redis_server: str
) -> None:
    async with site_on(shop, redis_server) as ask:
        for text in ("first", "second", "third"):
            await ask("add_episode", name="Plan", content=text, group_id="plans", uuid="plan-1")
        await ask.carry()
        [episode] = (await ask("get_episodes", group_ids=["plans"]))["episodes"]
        assert episode["content"] == "third"
        cleared = await ask("clear_graph", group_ids=["plans"])
        assert "plans (1 episodes, 1 nodes)" in cleared["message"]
        assert (await ask("get_episodes", group_ids=["plans"]))["episodes"] == []
        assert len((await ask("get_episodes", max_episodes=5))["episodes"]) == 5


async def test_what_was_measured_is_neither_overwritten_nor_deleted_alone(
    shop: str, redis_server: str
) -> None:
    async with site_on(shop, redis_server) as ask:
        measured = MAILS[3].id
        refused = await ask("delete_episode", uuid=measured)
        assert refused["error"].startswith("graph_measured: ") and "whole group" in refused["hint"]
        mine = {"name": "Mine", "content": "now", "uuid": measured, "group_id": "mine"}
        refused = await ask("add_episode", **mine)
        assert refused["error"].startswith("graph_measured: ")
        # Where it cannot be asked, nothing is written over it all the same.
        await ask.desk.add(TextEpisode(measured, "Mine", "now", START, group="mine"))
        await ask.carry()
        [[group]] = await ask.desk.graph.read(
            "MATCH (e:Episodic {uuid: $id}) RETURN e.group_id", id=measured
        )
        assert group == GRAPH


async def test_facts_are_got_and_deleted_by_their_ids(shop: str, redis_server: str) -> None:
    version, task = entity_uuid("SkillVersion", OLD), entity_uuid("TaskType", CHARGE)
    uuid = edge_uuid("FAILED_AT", version, task)
    async with site_on(shop, redis_server) as ask:
        fact = await ask("get_entity_edge", uuid=uuid)
        assert fact["fact"] == f"{OLD} failed at the task {CHARGE}."
        gone = await ask("delete_entity_edge", uuid=uuid)
        assert fact["fact"] in gone["message"]
        for tool in ("get_entity_edge", "delete_entity_edge"):
            assert (await ask(tool, uuid=uuid))["error"].startswith("graph_unknown: ")


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search_nodes", {}, "/query: "),
        ("search_facts", {"query": "a", "max_facts": 0}, "/max_facts"),
        ("add_memory", {"name": "n", "episode_body": " "}, "episode_body is empty"),
        ("add_memory", {"name": "n", "episode_body": "c", "reference_time": "soon"}, "no ISO 8601"),
        ("add_episode", {"name": "n", "content": "c", "group_id": "a b"}, "'a b'"),
        ("add_episode", {"name": "n", "content": "c", "text": "t"}, "/text"),
        ("clear_graph", {}, "name the groups to clear; there are dcf ("),
        ("search_nodes", {"query": "a", "entity_types": ["A) DELETE n"]}, "cannot be entity types"),
        ("search_nodes", {"query": "a", "entity_types": ["Größe"]}, "cannot be entity types"),
        ("search_nodes", {"query": "a", "entity_types": ["A"] * 101}, "/entity_types"),
        ("search_nodes", {"query": "a", "group_ids": ["a b"]}, "'a b': a group has 1 to 100"),
        ("search_facts", {"query": "a", "group_ids": ["Größe"]}, "a group has 1 to 100"),
        ("search_facts", {"query": "a", "group_ids": ["a"] * 101}, "/group_ids"),
        ("search_facts", {"query": "a", "center_node_uuid": "x" * 101}, "/center_node_uuid"),
        ("get_episodes", {"group_ids": ["a", "x" * 101]}, "a group has 1 to 100"),
        ("clear_graph", {"group_ids": ["a"] * 101}, "/group_ids"),
        ("delete_episode", {"uuid": "x" * 101}, "/uuid"),
        ("add_episode", {"name": "n", "content": "c", "uuid": "x" * 101}, "/uuid"),
        ("add_episode", {"name": "n", "content": "c", "uuid": "ann@mail.example"}, "a uuid has"),
        ("add_episode", {"name": "n", "content": "c", "uuid": "4111.1111.1111.1111"}, "a uuid has"),
        ("drop_everything", {}, "unknown_tool"),
    ],
)
async def test_what_cannot_be_is_an_error_that_says_why(
    shop: str, redis_server: str, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with site_on(shop, redis_server) as ask:
        assert said in (await ask(tool, **arguments))["error"]


async def test_health_tells_the_truth_and_needs_no_token(shop: str, redis_server: str) -> None:
    async with desk_on(shop, redis_server) as (desk, _), httpx2.AsyncClient() as http:
        app = create_graph_app(desk, Guard(token="t" * 32))
        async with serving_app(app) as url:
            whole = await http.get(f"{url}/health")
            assert (whole.status_code, whole.json()["status"]) == (200, "healthy")
            port = httpx2.URL(url).port
            assert (await graph_server_health("127.0.0.1", port)).exit_code == 0
            assert (await http.post(f"{url}/mcp/", json={})).status_code == 401
    away = "redis://:s3cret@127.0.0.1:1/0"
    async with (
        desk_on(away, redis_server) as (desk, _),
        httpx2.AsyncClient() as http,
        serving_app(create_graph_app(desk, Guard(token=None))) as url,
    ):
        found = await http.get(f"{url}/health")
        assert (found.status_code, found.json()["status"]) == (503, "unhealthy")
        assert found.json()["error"] == "graph: it does not answer"
        assert "s3cret" not in found.text and found.json()["waiting"] == 0


async def test_with_the_graph_away_texts_wait_and_questions_say_so(redis_server: str) -> None:
    async with site_on("redis://:s3cret@127.0.0.1:1/0", redis_server) as ask:
        queued = await ask("add_episode", name="Later", content="kept", group_id="later")
        assert "(1 waiting)" in queued["message"]
        for tool in ("search_nodes", "search_facts"):
            refused = await ask(tool, query="a")
            assert refused["error"].startswith("graph_away: ") and "s3cret" not in str(refused)
        assert (await ask("get_status"))["status"] == "error"
        await ask.store.backend.command("FLUSHALL")


async def test_a_graph_that_died_is_started_again_for_those_who_read(short_dir: Path) -> None:
    env = {"DCF_HOME": str(short_dir)}
    setting, server = GraphSetting.from_env(env), Embedded.from_env(env).graph
    missed = asyncio.Event()
    try:
        address = await setting.address()
        async with (
            GraphConnection(address.url, missed=missed.set) as graph,
            _beside(partial(_wake, setting, missed)),
        ):
            await graph.write([query("CREATE (:A)")])
            pid = (await server.status()).pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(30):
                with pytest.raises(GraphAway):
                    while True:
                        await graph.read("MATCH (a:A) RETURN 1")
                while not (await server.status()).responding:
                    await asyncio.sleep(0.02)
            assert await graph.read("MATCH (a:A) RETURN 1") == [[1]]
    finally:
        await server.stop()


async def test_the_command_serves_and_stops(shop: str, redis_server: str, tmp_path: Any) -> None:
    env = {
        "PATH": "", "HOME": str(tmp_path), "DCF_HOME": str(tmp_path / "home"),
        "DCF_REDIS_URL": redis_server, "DCF_GRAPH_URL": shop,
    }  # fmt: skip
    child = await asyncio.create_subprocess_exec(
        python(), "-m", "dcf.cli", "graph", "serve", "--port", "0",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=env, cwd=tmp_path,
    )  # fmt: skip
    assert child.stdout is not None
    try:
        async with asyncio.timeout(60):
            line = json.loads(await child.stdout.readline())
            async with Client(line["url"]) as client:
                await client.call_tool("add_episode", {"name": "Bell", "content": "It rings."})
                while True:
                    found = await client.call_tool("get_episodes", {"max_episodes": 100})
                    if "It rings." in found.content[0].text:
                        break
                    await asyncio.sleep(0.1)
            child.terminate()
            assert await child.wait() == 0
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
