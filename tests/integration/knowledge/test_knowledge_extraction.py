"""Facts found in texts by a scripted model, through Graphiti's own extraction."""

from __future__ import annotations

from typing import Any

import pytest
from integration.knowledge.world import START, meanings, outcome, write

from dcf.knowledge import TEXTS, GraphConnection, Privacy, SettingUnusable, TextEpisode
from dcf.knowledge.asking import chosen
from dcf.knowledge.graphiti import (
    ExtractionSetting,
    GraphitiSearch,
    demand_graphiti,
    extract_waiting,
)
from dcf.knowledge.text_writing import text_queries

VERSIONED = [f"summarise-documents-with-embedded-tables v{number}" for number in range(3)]


async def add(graph: GraphConnection, *texts: str) -> None:
    episodes = [
        (TextEpisode(f"t{n}", f"Note {n}", text, START, extract=True), n)
        for n, text in enumerate(texts)
    ]
    await graph.write(text_queries(episodes, meanings(), Privacy(), START))


class Script:
    """Finds Ada and the harbour in every text, and versions besides; counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, instructions: str, text: str) -> Any:
        self.asked += 1
        if '"title": "ExtractedEntities"' in text:
            names = ["Ada", "Harbour", *VERSIONED]
            return {"extracted_entities": [{"name": one, "entity_type_id": 0} for one in names]}
        if '"title": "ExtractedEdges"' in text:
            fact = {
                "source_entity_name": "Ada", "target_entity_name": "Harbour",
                "relation_type": "WORKS_AT", "fact": "Ada works at the harbour.",
                "valid_at": None, "invalid_at": None, "episode_indices": [0],
            }  # fmt: skip
            return {"edges": [fact, {**fact, "target_entity_name": VERSIONED[0]}]}
        return {"duplicate_facts": [], "contradicted_facts": [], "entity_resolutions": []}


async def states(graph: GraphConnection) -> list[Any]:
    return [row[0] for row in await graph.read("MATCH (e:Text) RETURN e.extract ORDER BY e.uuid")]


def model(ask: Any, calls: int = 100) -> Any:
    demand_graphiti()
    from dcf.knowledge.graphiti.extraction_model import CallBudget, ExtractionModel

    return ExtractionModel(ask, CallBudget(calls))


async def test_facts_are_found_in_texts_and_versions_are_never_merged(graph_url: str) -> None:
    script = Script()
    async with GraphConnection(graph_url) as graph:
        await write(graph, outcome(1))
        before = await graph.read("MATCH (n:SkillVersion) RETURN properties(n)")
        await add(graph, "Ada works at the harbour.", "Ada is still there.")
        async with GraphitiSearch.open(graph_url, model=lambda: model(script)) as search:
            done = await extract_waiting(search, graph)
            assert (done.done, done.failed) == (2, 0)
            found = await search.facts("who works at the harbour", chosen([TEXTS]))
            assert [fact.fact for fact in found] == ["Ada works at the harbour."]
            names = {node.name for node in await search.nodes("Ada harbour", chosen([TEXTS]))}
            assert names == {"Ada", "Harbour", "Note 0", "Note 1"}
            # Nothing is asked a second time.
            asked = script.asked
            await extract_waiting(search, graph)
            assert script.asked == asked
        assert await states(graph) == ["done", "done"]
        assert await graph.read("MATCH (n:SkillVersion) RETURN properties(n)") == before
        rows = await graph.read("MATCH (n:Entity) WHERE n.name CONTAINS 'tables' RETURN n")
        assert rows == []


async def test_the_budget_ends_it_and_texts_go_on_waiting(graph_url: str) -> None:
    script = Script()
    async with GraphConnection(graph_url) as graph:
        await add(graph, "one", "two", "three")
        async with GraphitiSearch.open(graph_url, model=lambda: model(script, 1)) as search:
            with pytest.raises(Exception, match="No more than 1 calls"):
                await extract_waiting(search, graph)
        assert script.asked == 1
        assert await states(graph) == ["wanted"] * 3


async def test_a_text_that_no_model_understands_is_given_up(graph_url: str) -> None:
    async def nonsense(_: str, __: str) -> Any:
        return {"extracted_entities": "all of them"}

    async with GraphConnection(graph_url) as graph:
        await add(graph, "one")
        async with GraphitiSearch.open(graph_url, model=lambda: model(nonsense)) as search:
            done = await extract_waiting(search, graph)
        assert (done.done, done.failed) == (0, 1)
        assert await states(graph) == ["failed"]


def test_extraction_wants_a_flag_and_a_model() -> None:
    assert ExtractionSetting.from_env({}) is None
    assert ExtractionSetting.from_env({"DCF_MODEL": "openai:gpt-5-mini"}) is None
    with pytest.raises(SettingUnusable, match="no model"):
        ExtractionSetting.from_env({"DCF_GRAPH_EXTRACT": "1"})
    env = {"DCF_GRAPH_EXTRACT": "1", "DCF_MODEL": "openai:gpt-5-mini"}
    assert ExtractionSetting.from_env(env) == ExtractionSetting("openai:gpt-5-mini", 500)
    with pytest.raises(SettingUnusable, match="'many' is no whole number"):
        ExtractionSetting.from_env({**env, "DCF_GRAPH_EXTRACT_CALLS": "many"})
    for calls in ("9" * 5_000, "\u00b2"):
        with pytest.raises(SettingUnusable, match="is no whole number"):
            ExtractionSetting.from_env({**env, "DCF_GRAPH_EXTRACT_CALLS": calls})
