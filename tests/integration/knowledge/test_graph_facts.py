"""Facts of a graph that runs, in the one list; a graph that does not run is not started for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from integration.knowledge.shop import CHARGE, CHARGES, INSIGHT, NEW, OLD, fill
from integration.knowledge.world import outcome, write
from memory_world import Numbered, Ticking
from redis import Redis

from dcf.citation import parse_citation
from dcf.cli.retrieval.opening import open_retrieval
from dcf.cli.retrieval.setting import RetrievalSetting
from dcf.cli.settings import Settings
from dcf.knowledge import GraphConnection, GraphFacts
from dcf.memory import SYSTEM
from dcf.retrieval import (
    Answered,
    ContextQuestion,
    FactHit,
    FactsAway,
    NewItem,
    Retrieval,
    VolatileItems,
)

SHOP = "/work/shop"
ON = {"DCF_FACTS": "on"}


@pytest.fixture(scope="module")
def shop(graph_server: str) -> Iterator[str]:
    """A graph that is only read by this module."""
    with Redis.from_url(graph_server) as client:
        client.flushall()
    fill(graph_server)
    yield graph_server


def facts_at(url: str) -> GraphFacts:
    return GraphFacts({**ON, "DCF_GRAPH_URL": url}, SHOP)


async def asked(facts: GraphFacts, query: str, project: str = SHOP, **more: object) -> Answered:
    clock = Ticking()
    retrieval = Retrieval(VolatileItems(clock, Numbered()), None, clock, facts=facts)
    await retrieval.log(project, NewItem("The gateway of the payments was changed at noon."))
    return await retrieval.context(ContextQuestion(project, query, **more))  # type: ignore[arg-type]


async def test_facts_are_found_with_what_they_are_known_from(shop: str) -> None:
    found = await facts_at(shop).find(SHOP, "charge_payment fails", limit=50)
    by_text = {one.text: one for one in found}
    assert len(by_text) == len(found)
    failed = [one for one in CHARGES if NEW in one.skills and not one.ok]
    hit = by_text[f"{NEW} failed at the task {CHARGE}."]
    assert hit.support == len(failed)
    cited = parse_citation(hit.citation)
    assert (cited.kind, cited.part, cited.part_id) == ("run", "state", "Charge")
    (run,) = (one for one in failed if one.workflow_id == cited.id)
    assert hit.at == run.ended_at
    # What an analysis found, once, though it is about a task and a skill; its run proves it.
    assert by_text[INSIGHT.statement] == FactHit(INSIGHT.statement, "dcf://run/order-61", 1, 0)
    assert f"Workflow orders has the task {CHARGE}." not in by_text
    assert f"{OLD} failed at the task {CHARGE}." in by_text


async def test_facts_stand_in_the_one_list(shop: str) -> None:
    answered = await asked(facts_at(shop), "which payments fail with a timeout?", budget=1_000)
    assert answered.problems == () and answered.bundle is not None
    facts = [one for one in answered.found if one.candidate.kind == "fact"]
    assert facts[0].candidate.text == f"The task {CHARGE} failed with Payments.Timeout."
    assert facts[0].candidate.type == "fact"
    support = facts[0].candidate.about["support"]
    assert support == sum(1 for one in CHARGES if not one.ok)
    assert facts[0].why[0] == f"1. of fact: known from {support}"
    assert "memory" in {one.candidate.kind for one in answered.found}
    assert answered.bundle.parts["fact"].taken == len(facts)
    guided = await asked(facts_at(shop), "which payments fail?", mode="guide")
    assert {one.candidate.kind for one in guided.found} == {"memory"}


async def test_another_project_hears_nothing(shop: str) -> None:
    assert await facts_at(shop).find("/work/site", "charge_payment") == ()
    answered = await asked(facts_at(shop), "payments fail", project="/work/site")
    assert {one.candidate.kind for one in answered.found} == {"memory"}


async def test_nothing_is_told_until_somebody_says_that_all_runs_are_of_the_project(
    shop: str,
) -> None:
    """The runs of every project are in one graph, which does not say which one a run was of: in a
    project of its own nothing of the shop's runs may be told."""
    own = "/work/site"
    for said in ({}, {"DCF_FACTS": ""}, {"DCF_FACTS": "off"}):
        facts = GraphFacts({**said, "DCF_GRAPH_URL": shop}, own)
        assert await facts.find(own, "charge_payment") == ()
    facts = GraphFacts({**ON, "DCF_GRAPH_URL": shop}, own)
    assert await facts.find(own, "charge_payment") != ()


async def test_no_graph_is_started_for_a_question(tmp_path: Path) -> None:
    home = tmp_path / "home"
    facts = GraphFacts({**ON, "DCF_HOME": str(home)}, SHOP)
    answered = await asked(facts, "payments")
    assert len(answered.found) == 1 and answered.problems == ()
    assert not (home / "graph").exists()


async def test_an_embedded_graph_that_runs_is_read(shop: str) -> None:
    env = {**ON, "DCF_HOME": str(Path(urlsplit(shop).path).parent.parent)}
    assert await GraphFacts(env, SHOP).find(SHOP, "charge_payment")
    assert await GraphFacts({**env, "DCF_GRAPH": "off"}, SHOP).find(SHOP, "charge_payment") == ()


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"DCF_GRAPH_URL": "redis://:hidden@127.0.0.1:9"}, "does not answer"),
        ({"DCF_GRAPH_URL": "redis://a", "DCF_GRAPH": "perhaps"}, "DCF_GRAPH cannot be used"),
        ({"DCF_FACTS": "perhaps"}, "DCF_FACTS cannot be used"),
    ],
)
async def test_a_graph_that_is_away_is_a_warning(env: dict[str, str], said: str) -> None:
    facts = GraphFacts({**ON, **env}, SHOP)
    answered = await asked(facts, "payments")
    assert len(answered.found) == 1
    (problem,) = answered.problems
    assert said in problem.message and "hidden" not in str(problem)
    assert (problem.code, problem.severity) == ("retrieval_facts", "warning")


async def test_a_graph_that_was_away_is_asked_again_after_half_a_minute(shop: str) -> None:
    now = [0.0]
    env = {**ON, "DCF_GRAPH_URL": "redis://127.0.0.1:9"}
    facts = GraphFacts(env, SHOP, clock=lambda: now[0])
    for _ in range(2):
        with pytest.raises(FactsAway):
            await facts.find(SHOP, "payments")
        env["DCF_GRAPH_URL"] = shop
    now[0] = 30.0
    assert await facts.find(SHOP, "payments")


# These empty the graph of the tests above.
async def test_what_others_added_to_the_graph_is_not_told(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, outcome(1, status="failed", error="Boom"))
    now = [0.0]
    facts = GraphFacts({**ON, "DCF_GRAPH_URL": graph_url}, SHOP, clock=lambda: now[0])
    before = await facts.find(SHOP, "boom")
    assert before
    with Redis.from_url(graph_url) as client:
        theirs = "MATCH ()-[x:RELATES_TO]->() SET x.group_id = 'theirs'"
        client.execute_command("GRAPH.QUERY", "dcf", theirs)
    # What was read is told for half a minute, without another look.
    now[0] = 29.0
    assert await facts.find(SHOP, "boom") == before
    now[0] = 30.0
    assert await facts.find(SHOP, "boom") == ()


async def test_commands_tell_facts_where_there_is_one_project(
    graph_url: str, tmp_path: Path
) -> None:
    async with GraphConnection(graph_url) as graph:
        await write(graph, outcome(1, status="failed", error="Boom"))
    env = {
        **ON,
        "DCF_HOME": str(tmp_path / "home"),
        "DCF_GENERATED": str(tmp_path / "generated"),
        "DCF_GRAPH_URL": graph_url,
        "DCF_EMBEDDER": "none",
        "MEM_BACKEND": "memory",
    }
    asked = ContextQuestion(str(tmp_path), "boom")
    for roots, told in (([tmp_path], True), ([tmp_path, tmp_path.parent], False)):
        setting = RetrievalSetting.from_env(env, roots)
        async with open_retrieval(Settings.from_env(env), setting, SYSTEM) as retrieval:
            found = (await retrieval.context(asked)).found
        assert ("fact" in {one.candidate.kind for one in found}) is told
