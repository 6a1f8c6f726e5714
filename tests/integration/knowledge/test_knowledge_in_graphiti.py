"""Graphiti's own search, and its reads by id, find what was written without it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from integration.knowledge.office import PATTERNS, delegation, session, write_records
from integration.knowledge.world import outcome, run_fact, write

from dcf.knowledge import GRAPH, GraphConnection, load_embedder
from dcf.knowledge.naming import edge_uuid, entity_uuid
from dcf.knowledge.session_telling import delegation_uuid


@asynccontextmanager
async def graphiti_on(url: str) -> AsyncIterator[Any]:
    """Graphiti on the graph of DCF, without any model."""
    from falkordb.asyncio import FalkorDB
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient
    from graphiti_core.llm_client.config import LLMConfig

    class Embedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            text = input_data if isinstance(input_data, str) else input_data[0]
            return [float(part) for part in load_embedder().embed_queries([text])[0]]

    class NoRanking(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            return [(passage, 0.0) for passage in passages]

    class NoModel(LLMClient):  # type: ignore[misc]
        async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
            raise AssertionError("no model is needed")

    driver = FalkorDriver(falkor_db=FalkorDB.from_url(url), database=GRAPH)
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=NoModel(LLMConfig()),
        embedder=Embedder(),
        cross_encoder=NoRanking(),
    )
    await driver.build_indices_and_constraints()
    try:
        yield graphiti
    finally:
        await graphiti.close()


async def test_graphiti_finds_facts_entities_and_episodes(
    graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EntityNode, EpisodicNode

    one = outcome(1, task_type="summarise invoice", status="failed", error="Payments.Declined")
    async with GraphConnection(graph_url) as graph:
        await write(graph, one, outcome(2, task_type="ship parcel"), run_fact())
    async with graphiti_on(graph_url) as graphiti:
        facts = await graphiti.search(
            "which skill failed at the task summarise invoice", group_ids=[GRAPH], num_results=5
        )
        texts = [fact.fact for fact in facts]
        assert "skill.pay@1.1.0 failed at the task summarise invoice." in texts
        version = entity_uuid("SkillVersion", "skill.pay@1.1.0")
        task = entity_uuid("TaskType", "summarise invoice")
        edge = await EntityEdge.get_by_uuid(graphiti.driver, edge_uuid("FAILED_AT", version, task))
        assert (edge.name, edge.source_node_uuid, edge.target_node_uuid) == (
            "FAILED_AT", version, task,
        )  # fmt: skip
        assert (edge.valid_at.timestamp() * 1000, edge.invalid_at) == (one.ended_at, None)
        assert edge.episodes == [one.id]
        node = await EntityNode.get_by_uuid(graphiti.driver, version)
        assert (node.name, set(node.labels)) == ("skill.pay@1.1.0", {"Entity", "SkillVersion"})
        assert node.attributes == {"skill": "skill.pay", "version": "1.1.0"}
        episode = await EpisodicNode.get_by_uuid(graphiti.driver, one.id)
        assert "Payments.Declined" in episode.content
        assert edge.uuid in episode.entity_edges
        assert episode.valid_at.timestamp() * 1000 == one.ended_at
        found = await graphiti.retrieve_episodes(
            reference_time=episode.valid_at, last_n=9, group_ids=[GRAPH]
        )
        assert {run.uuid for run in found} >= {run_fact().id}


async def test_graphiti_finds_what_sessions_told(
    graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    from graphiti_core.nodes import EntityNode, EpisodicNode

    async with GraphConnection(graph_url) as graph:
        await write_records(graph, *PATTERNS, delegation(3), session())
    async with graphiti_on(graph_url) as graphiti:
        facts = await graphiti.search("drafts fail", group_ids=[GRAPH], num_results=5)
        assert PATTERNS[0].statement in [fact.fact for fact in facts]
        node = await EntityNode.get_by_uuid(graphiti.driver, entity_uuid("Session", "s-1"))
        assert (node.name, set(node.labels)) == ("s-1", {"Entity", "Session"})
        assert node.summary == session().objective and node.attributes["state"] == "active"
        episode = await EpisodicNode.get_by_uuid(graphiti.driver, delegation_uuid("t-3"))
        assert "mail.draft" in episode.content and "Mail.Empty" in episode.content
        assert episode.valid_at.timestamp() * 1000 == delegation(3).finished_at
        found = await graphiti.retrieve_episodes(
            reference_time=episode.valid_at, last_n=3, group_ids=[GRAPH]
        )
        assert [one.uuid for one in found] == [episode.uuid]


async def test_indexes_of_graphiti_and_ours_are_made_in_any_order(
    graph_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHITI_TELEMETRY_ENABLED", "false")
    async with graphiti_on(graph_url), GraphConnection(graph_url) as graph:
        await write(graph, outcome(1))
        found = await graph.read(
            "CALL db.indexes() YIELD label, properties RETURN label, properties"
        )
    indexed = {label: set(properties) for label, properties in found}
    assert {"uuid", "name"} <= indexed["SkillVersion"]
    assert {"uuid", "fact"} <= indexed["RELATES_TO"]
