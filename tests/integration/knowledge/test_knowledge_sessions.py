"""What sessions tell, on a real graph: told twice, late and out of order it is there as it was told
last, and counts in no statistics of skills."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from integration.knowledge.office import (
    DELEGATIONS,
    DRAFT,
    MINUTE_MS,
    PATTERNS,
    SEND,
    delegation,
    pattern,
    run_of,
    session,
    write_records,
)
from integration.knowledge.world import START, dump, stats, sums, write, writer_of

from dcf.knowledge import (
    CompanionPatternFact,
    GraphConnection,
    InsightFact,
    SessionPatternFact,
    SkillMetricFact,
    TextEpisode,
    load_embedder,
)
from dcf.knowledge.asking import (
    EpisodeMeasured,
    chosen,
    clear_group,
    delete_text,
    exported,
    is_measured,
    newest_episodes,
    overview,
)
from dcf.knowledge.episode import iso
from dcf.knowledge.session_telling import delegation_uuid

FACTS = """MATCH (a)-[x:RELATES_TO]->(b) RETURN a.name, x.name, b.name, x.valid_at, x.invalid_at
ORDER BY x.name, a.name, b.name"""


async def one(graph: GraphConnection, text: str, **given: Any) -> list[Any]:
    (row,) = await graph.read(text, **given)
    return row


async def contents(graph: GraphConnection) -> Any:
    """Every node and edge, in whatever order its properties and labels came to it."""
    nodes = await graph.read("MATCH (n) RETURN labels(n), properties(n)")
    edges = await graph.read("MATCH (a)-[e]->(b) RETURN a.uuid, b.uuid, type(e), properties(e)")
    plain = [(sorted(labels), sorted(one.items())) for labels, one in nodes]
    return sorted(map(repr, plain)), sorted(repr((*at, sorted(one.items()))) for *at, one in edges)


async def test_a_delegation_is_an_episode_with_all_that_it_is_about(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, delegation(3), session())
        node = (await one(graph, "MATCH (e:Episodic:Delegation) RETURN e"))[0].properties
        assert node["status"] == "failed" and node["error"] == "Mail.Empty"
        assert node["workflow_id"] == node["task_id"] == "t-3"
        assert (node["wait_ms"], node["duration_ms"]) == (1_000, 10_000)
        assert node["skills"] == [DRAFT] and node["uuid"] == delegation_uuid("t-3")
        assert node["valid_at"] == iso(START + 3 * MINUTE_MS + 11_000)
        mentioned = await graph.read(
            "MATCH (:Delegation)-[:MENTIONS]->(n) RETURN n.name ORDER BY n.name"
        )
        assert [name for (name,) in mentioned] == [
            "Mail.Empty", "ann", "boss", "mail.draft", "s-1", DRAFT,
        ]  # fmt: skip
        began = iso(START + 3 * MINUTE_MS)
        assert await graph.read(FACTS) == [
            ["boss", "DELEGATED_TO", "ann", began, None],
            ["ann", "TOOK_PART_IN", "s-1", began, None],
            # The session began before the task was delegated, and was told after it.
            ["boss", "TOOK_PART_IN", "s-1", iso(START), None],
        ]


async def test_a_session_is_as_it_was_told_last(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, session(), revisions=[5])
        over = session(state="completed", ended_at=START + 9, workflows=("t-3",))
        await write_records(graph, over, revisions=[7])
        await write_records(graph, session(state="paused"), revisions=[6])
        node = (await one(graph, "MATCH (n:Session) RETURN n"))[0].properties
        assert (node["state"], node["ended_at"], node["workflows"]) == (
            "completed", START + 9, ["t-3"],
        )  # fmt: skip
        assert (node["name"], node["tasks_delegated"], node["began_at"]) == ("s-1", 3, START)
        # What is not known any more is not left standing.
        await write_records(graph, session(), revisions=[8])
        assert await one(graph, "MATCH (n:Session) RETURN n.state, n.ended_at") == ["active", None]


async def test_records_come_in_any_order_and_any_number_of_times(graph_url: str) -> None:
    told = [*PATTERNS, *DELEGATIONS, session(state="completed", ended_at=START + 999)]
    pairs = list(zip(told, range(1, len(told) + 1), strict=True))
    # Earlier accounts, which come after the last ones as often as before.
    pairs += [(session(), 0), (delegation(1, status="failed", companion_id="cal"), 0)]
    rng = Random(3)
    dumps = []
    for name, mixed in (
        ("in_order", sorted(pairs, key=lambda pair: pair[1])),
        ("backwards", sorted(pairs, key=lambda pair: -pair[1])),
        ("mixed", rng.sample(pairs, len(pairs)) + rng.sample(pairs, 5)),
    ):
        async with GraphConnection(graph_url, graph=name) as graph:
            writer = writer_of(graph)
            for at in range(0, len(mixed), 4):
                await writer.session_records(mixed[at : at + 4])
            dumps.append(await contents(graph))
            # All of it once more, as one batch.
            await writer.session_records(mixed)
            assert await contents(graph) == dumps[-1]
    assert dumps[0] == dumps[1] == dumps[2]


async def test_what_is_told_differently_mentions_what_it_is_about_now(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, delegation(3), revisions=[1])
        again = delegation(3, status="succeeded", error_code=None, companion_id="cal")
        await write_records(graph, again, revisions=[2])
        mentioned = await graph.read(
            "MATCH (:Delegation)-[:MENTIONS]->(n) RETURN n.name ORDER BY n.name"
        )
        assert [name for (name,) in mentioned] == ["boss", "cal", "mail.draft", "s-1", DRAFT]
        assert await one(graph, "MATCH (e:Delegation) RETURN e.status, e.error") == [
            "succeeded", None,
        ]  # fmt: skip
        # Both have had it.
        took_part = "MATCH (a)-[:RELATES_TO {name: 'TOOK_PART_IN'}]->() RETURN a.name"
        assert sorted(name for (name,) in await graph.read(took_part)) == ["ann", "boss", "cal"]


async def test_a_pattern_that_comes_first_names_what_comes_later(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, *PATTERNS)
        assert await one(graph, "MATCH (n:Session) RETURN n.session_id, n.revision") == ["s-1", -1]
        described = await graph.read(
            "MATCH (p)-[x:RELATES_TO {name: 'DESCRIBES'}]->(n) RETURN labels(p), n.name"
        )
        assert sorted((max(labels), name) for labels, name in described) == [
            ("Entity", "ann"), ("Entity", "mail.draft"), ("SessionPattern", "mail.draft"),
            ("SkillMetric", "mail.draft"), ("SkillMetric", DRAFT),
        ]  # fmt: skip
        await write_records(graph, delegation(3), session(), revisions=[10, 11])
        assert await one(graph, "MATCH (n:Session) RETURN n.state") == ["active"]
        newer = pattern(SkillMetricFact, skill=DRAFT, statement="Drafts fail.", observations=9)
        await write_records(graph, newer, revisions=[12])
        await write_records(graph, PATTERNS[1], revisions=[2])
        assert await one(
            graph, "MATCH (n:SkillMetric)-[x:RELATES_TO {name: 'MEASURED_IN'}]->() "
            "RETURN n.observations, n.name, x.fact"
        ) == [9, "Drafts fail.", "Drafts fail."]  # fmt: skip


async def test_what_is_said_in_other_words_is_found_by_them(graph_url: str) -> None:
    def told(words: str, number: int) -> list[tuple[Any, int]]:
        said = pattern(SessionPatternFact, statement=words)
        return [(session(objective=words), number), (said, number)]

    insight = InsightFact("i-1", "warning", "", 0.9, START, task_types=("mail.draft",))
    vectors = "MATCH (n:Entity {name: $name}) RETURN n.name_embedding"
    words = "refund the customers"
    async with GraphConnection(graph_url) as graph:
        writer = writer_of(graph)
        for number, said in enumerate(("answer the mail", words)):
            await writer.session_records(told(said, number))
            await writer.insights([(replace(insight, statement=said), number)])
            text = TextEpisode(uuid="text", name=said, content="", at=START)
            await writer.texts([(text, number)])
        found = {
            "session": (await one(graph, vectors, name="s-1"))[0],
            "texts": [v for (v,) in await graph.read(
                "MATCH (n) WHERE n.name = $name AND n.name_embedding IS NOT NULL "
                "AND NOT n:Document RETURN n.name_embedding", name=words)],
            "document": (await one(graph, "MATCH (n:Document) RETURN n.name_embedding"))[0],
            "facts": [v for (v,) in await graph.read(
                "MATCH ()-[x:RELATES_TO {fact: $fact}]->() RETURN x.fact_embedding", fact=words)],
        }  # fmt: skip
    [right] = load_embedder().embed([words]).tolist()
    assert len(found["texts"]) == 2 and len(found["facts"]) == 3
    for vector in (found["session"], *found["texts"], *found["facts"]):
        assert vector == pytest.approx(right, abs=1e-5)
    [right] = load_embedder().embed([f"{words}. "]).tolist()
    assert found["document"] == pytest.approx(right, abs=1e-5)


async def test_delegations_count_in_no_sum_and_their_runs_do(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        outcomes = [run_of(told) for told in DELEGATIONS]
        await write(graph, *outcomes)
        before = await stats(graph)
        await write_records(graph, *DELEGATIONS, session(), *PATTERNS)
        assert await stats(graph) == before == sums(outcomes)
        # One kind of task, one version, one agent, whoever told of them.
        assert await one(graph, "MATCH (n:TaskType {name: 'mail.send'}) RETURN count(n)") == [1]
        assert await one(graph, "MATCH (n:SkillVersion) RETURN count(n)") == [2]
        assert await one(
            graph, "MATCH (e:Delegation) MATCH (o:StateOutcome {workflow_id: e.workflow_id}) "
            "WHERE o.session = e.session_id RETURN count(*)"
        ) == [12]  # fmt: skip


SECRETS = "ann@mail.example and +49 171 2345678"


async def test_hostile_texts_are_cleaned_and_change_nothing_else(graph_url: str) -> None:
    nasty = f"'}}) DETACH DELETE n // \" \\ ` $rows \x00 {SECRETS}"
    async with GraphConnection(graph_url) as graph:
        await write_records(
            graph,
            session(objective=nasty * 20),
            delegation(
                1, task_type=nasty, companion_name=nasty, specialization=nasty, error_code=nasty,
                skills=(nasty, f"{nasty}@1"), model=nasty, priority=nasty, status="failed",
            ),
            pattern(
                SessionPatternFact, id=nasty, subject=nasty, statement=nasty, task_type=nasty,
                skill=nasty, specialization=nasty, values={nasty: 1.0},
            ),
        )  # fmt: skip
        everything = str(await dump(graph))
        assert "ann@" not in everything and "2345678" not in everything
        assert "DETACH DELETE" in everything and "[email]" in everything
        assert await one(graph, "MATCH (e:Delegation) RETURN count(e)") == [1]
        (objective,) = await one(graph, "MATCH (n:Session) RETURN n.objective")
        assert len(objective) <= 300


async def test_ids_of_sessions_and_tasks_are_no_words_of_an_index(graph_url: str) -> None:
    # A stop word that is looked up in an index ends the server's process.
    async with GraphConnection(graph_url) as graph:
        told = delegation(1, task_id="the", session_id="a", conductor_id="and", companion_id="or")
        await write_records(graph, told, session("a", conductor_id="and"))
        await write_records(graph, told, session("a", conductor_id="and"))
        assert await one(graph, "MATCH (e:Delegation {session_id: 'a'}) RETURN e.task_id") == [
            "the"
        ]


async def test_a_text_takes_no_place_of_a_delegation(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, delegation(1))
        taken = delegation_uuid("t-1")
        assert await is_measured(graph, taken)
        before = await dump(graph)
        text = TextEpisode(uuid=taken, name="mine", content="now it is mine", at=START)
        await writer_of(graph).texts([(text, 1)])
        assert await dump(graph) == before
        with pytest.raises(EpisodeMeasured):
            await delete_text(graph, taken)


async def test_sessions_are_shown_by_their_groups_exported_and_forgotten(graph_url: str) -> None:
    async with GraphConnection(graph_url) as graph:
        await write_records(graph, session(), *DELEGATIONS, *PATTERNS)
        handed = await overview(graph, chosen(["dcf_plus_delegations"]))
        assert handed.episodes == {"Delegation": 12} and handed.entities == {"Session": 1}
        found = await overview(graph, chosen(["dcf_plus_patterns"]))
        assert found.entities == {"Session": 1, "SessionPattern": 1} and not found.episodes
        companions = await overview(graph, chosen(["dcf_plus_companions"]))
        assert companions.entities == {"Agent": 3, "CompanionPattern": 1}
        assert (await overview(graph, chosen(["dcf_plus_metrics"]))).entities["SkillMetric"] == 1
        newest = await newest_episodes(graph, chosen(["dcf_plus_delegations"]), limit=2)
        assert [episode.name for episode in newest] == ["t-11", "t-10"]
        lines = [line async for line in exported(graph, chosen(["dcf_plus_delegations"]))]
        assert sum("Delegation" in line.get("labels", ()) for line in lines) == 12
        await clear_group(graph, "dcf")
        assert await dump(graph) == ([], [])


def test_every_kind_of_pattern_is_written() -> None:
    assert {type(told) for told in PATTERNS} == {
        SessionPatternFact, SkillMetricFact, CompanionPatternFact,
    }  # fmt: skip
    assert SEND != DRAFT and replace(DELEGATIONS[0]) == DELEGATIONS[0]
