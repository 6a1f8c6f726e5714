"""Graphiti's own search over what was written, through our driver."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.knowledge.shop import CHARGE, INSIGHT, NEW, OLD, fill
from integration.knowledge.world import START, writer_of
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from dcf.knowledge import GRAPH, GraphAway, GraphConnection, GraphRefused, TextEpisode
from dcf.knowledge.asking import chosen, delete_text, newest_episodes
from dcf.knowledge.cypher import query
from dcf.knowledge.graphiti import GraphitiSearch, searchable

EVERYTHING = chosen(())


@pytest.fixture(scope="module")
def shop(graph_server: str) -> Iterator[str]:
    with Redis.from_url(graph_server) as client:
        client.flushall()
    fill(graph_server)
    yield graph_server


async def test_facts_are_found_by_words_and_meaning(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search:
        found = await search.facts("which version failed at charge_payment", EVERYTHING, limit=5)
        assert f"{NEW} failed at the task {CHARGE}." in [fact.fact for fact in found]
        assert len(found) == 5
        assert {fact.group_id for fact in found} == {GRAPH}


async def test_entities_are_found_and_groups_and_labels_narrow_them(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search:
        everywhere = await search.nodes("charge payment version", EVERYTHING, limit=20)
        assert {OLD, NEW} <= {node.name for node in everywhere}
        insights = await search.nodes("charge payment version", chosen(["dcf_insights"]))
        assert [node.name for node in insights] == [INSIGHT.statement]
        versions = await search.nodes("charge payment", EVERYTHING, labels=["SkillVersion"])
        assert versions and all("SkillVersion" in node.labels for node in versions)
        none = await search.nodes("charge", chosen(["dcf_insights"]), labels=["SkillVersion"])
        assert none == []
        runs = await search.facts("ended with", chosen(["dcf_executions"]), limit=20)
        assert {fact.name for fact in runs} == {"ENDED_WITH"}
        assert await search.facts("ended with", chosen(["nobodys-notes"])) == []


async def test_facts_that_hold_no_more_have_to_be_asked_for(shop: str) -> None:
    async with GraphConnection(shop) as graph:
        await graph.write(
            ["MATCH ()-[x:RELATES_TO {name: 'RAISES'}]->() "
             "SET x.invalid_at = '2026-11-01T00:00:00+00:00'"]
        )  # fmt: skip
    async with GraphitiSearch.open(shop) as search:
        words = "the task failed with Payments.Timeout"
        now = await search.facts(words, EVERYTHING, limit=20)
        ever = await search.facts(words, EVERYTHING, limit=20, over=True)
    assert "RAISES" not in {fact.name for fact in now}
    assert "RAISES" in {fact.name for fact in ever}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("_", ""),
        ("  __ _ ", ""),
        ("charge_payment _ now", "charge_payment now"),
        ("(a|b) \"c\" {d} -e @f:g 'h'", "a b c d e f g h"),
        ("a\x00b ☃ naïve", "a b naïve"),
    ],
)
def test_words_that_the_server_would_trip_over_are_taken_out(text: str, words: str) -> None:
    assert searchable(text) == words


async def test_any_words_can_be_searched(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search:
        for words in ("", "_", "__ _", "!?", "the", "word " * 500, "a-b " * 90, "☃", "NOT | AND"):
            await search.facts(words, EVERYTHING)
            await search.nodes(words, EVERYTHING)


async def test_groups_and_ids_may_be_called_as_stop_words_are(shop: str) -> None:
    """An index that is asked for one of its stop words ends the server's process."""
    text = TextEpisode("the", "Crane", "The harbour crane jams in frost.", START, group="the")
    async with GraphConnection(shop) as graph, GraphitiSearch.open(shop) as search:
        server = (await graph.read("MATCH (n) RETURN count(n)"), await process(shop))
        await writer_of(graph).texts([(text, 1)])
        for names in (["the"], ["A", "dcf"], ["of", "a", "not", "nobodys"]):
            wanted = ["Crane"] if "the" in names else []
            groups = chosen(names)
            found = await search.nodes("harbour crane", groups)
            assert [node.name for node in found if node.group_id != GRAPH] == wanted
            await search.facts("failed", groups)
            await search.facts("failed", groups, center="the")
            newest = await newest_episodes(graph, groups, limit=300)
            assert [one.uuid for one in newest if one.group_id != GRAPH] == ["the"] * len(wanted)
        assert await search.fact("the") is None
        # As the driver runs what Graphiti asks besides; imported after what keeps it quiet.
        from graphiti_core.nodes import EntityNode, EpisodicNode

        driver = search.graphiti.driver
        assert [n.uuid for n in await EpisodicNode.get_by_uuids(driver, ["the", "of"])] == ["the"]
        assert len(await EpisodicNode.get_by_group_ids(driver, ["the"])) == 1
        assert len(await EntityNode.get_by_group_ids(driver, ["the"])) == 1
        assert await EntityNode.get_by_uuids(driver, ["a", "the"]) == []
        assert (await delete_text(graph, "the")).group_id == "the"
        assert (await graph.read("MATCH (n) RETURN count(n)"), await process(shop)) == server


async def process(url: str) -> str:
    """What tells one process of the server from the next."""
    async with AsyncRedis.from_url(url) as redis:
        return str((await redis.info("server"))["run_id"])


async def test_nodes_of_others_are_said_to_be_unusable(shop: str) -> None:
    async with GraphConnection(shop) as graph:
        await graph.write([query("CREATE (:Entity {name: 'zeppelin', group_id: 'others'})")])
        async with GraphitiSearch.open(shop) as search:
            with pytest.raises(GraphRefused, match="neither by DCF nor by Graphiti"):
                await search.nodes("zeppelin", EVERYTHING)
        await graph.write([query("MATCH (n:Entity {name: 'zeppelin'}) DELETE n")])


async def test_long_questions_are_still_searched_by_their_words(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search:
        words = "Mail.Bounced " + "nothing whatever " * 100
        found = await search.facts(words, EVERYTHING, limit=3)
    assert any("Mail.Bounced" in fact.fact for fact in found)


async def test_searches_at_once_keep_their_own_limits(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search:
        limits = [1, 7, 2, 5, 3, 1, 6]
        words = "version task failed succeeded"
        found = await asyncio.gather(
            *(search.facts(words, EVERYTHING, limit=limit) for limit in limits)
        )
    assert [len(facts) for facts in found] == limits


async def test_a_search_makes_no_other_graph_and_few_queries(shop: str) -> None:
    async with GraphitiSearch.open(shop) as search, AsyncRedis.from_url(shop) as redis:
        for _ in range(3):
            await search.facts("failed", chosen([GRAPH, "my-notes"]))
        before = await queries(redis)
        await search.facts("failed", chosen([GRAPH]))
        # By words and by meaning.
        assert await queries(redis) - before == 2
        assert set(await redis.execute_command("GRAPH.LIST")) <= {GRAPH.encode(), b"nothing_yet"}


async def queries(redis: AsyncRedis) -> int:
    found = await redis.info("commandstats")
    calls = {name.lower(): one["calls"] for name, one in found.items()}
    return int(calls.get("cmdstat_graph.query", 0)) + int(calls.get("cmdstat_graph.ro_query", 0))


async def test_a_server_that_is_away_is_said_to_be_away() -> None:
    with pytest.raises(GraphAway):
        async with GraphitiSearch.open("redis://:s3cret@127.0.0.1:1/0"):
            pass


def test_importing_graphiti_reads_no_env_file_and_reports_to_nobody(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SHOP_SECRET=from-a-file\nGRAPHITI_TELEMETRY_ENABLED=true\n")
    program = (
        "import os, sys\n"
        "from dcf.knowledge.graphiti import demand_graphiti\n"
        "assert 'graphiti_core' not in sys.modules\n"
        "demand_graphiti()\n"
        "from graphiti_core.telemetry.telemetry import is_telemetry_enabled\n"
        "print(os.environ.get('SHOP_SECRET'), is_telemetry_enabled())\n"
    )
    env = {name: os.environ[name] for name in ("PATH",)} | {"HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["None", "False"]
