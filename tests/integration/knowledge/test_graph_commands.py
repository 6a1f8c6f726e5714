"""``dcf graph`` as a user has it, over a past that is known."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import typer.main
from integration.knowledge.office import DELEGATIONS, DRAFT, PATTERNS, session, write_records
from integration.knowledge.shop import CHARGE, INSIGHT, NEW, OLD, charge, fill
from integration.knowledge.world import write
from redis import Redis

from dcf.cli.app import build_app
from dcf.cli.entry import run_command
from dcf.knowledge import GraphConnection, VectorsForeign
from dcf.knowledge.cypher import query


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


Graph = Callable[..., Done]


@cache
def commands(first: str) -> Any:
    """The commands of a family, put together once."""
    return typer.main.get_command(build_app(first))


@pytest.fixture(scope="module")
def shop(graph_server: str, redis_server: str) -> Iterator[str]:
    for url in (graph_server, redis_server):
        with Redis.from_url(url) as client:
            client.flushall()
    fill(graph_server)
    yield graph_server


@pytest.fixture
def shop_with_sessions(shop: str) -> Iterator[None]:
    """The shop, and an office beside it, until the test is over."""

    async def told() -> None:
        async with GraphConnection(shop) as graph:
            await write_records(graph, session(), *DELEGATIONS, *PATTERNS)

    asyncio.run(told())
    yield
    with Redis.from_url(shop) as client:
        client.flushall()
    fill(shop)


@pytest.fixture
def graph(
    shop: str,
    redis_server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Graph:
    monkeypatch.setattr("dcf.cli.app.build_app", commands)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DCF_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DCF_REDIS_URL", redis_server)
    monkeypatch.setenv("DCF_GRAPH_URL", shop)
    for name in ("DCF_GRAPH", "DCF_MODEL", "DCF_MODEL_REFLECTOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Done:
        code = run_command(["graph", *arguments])
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def test_skills_are_ranked_for_people_and_for_scripts(graph: Graph) -> None:
    shown = graph("skills", "--task-type", CHARGE)
    assert shown.code == 0
    assert OLD in shown.out and "58 of 64, 91 %" in shown.out and "●" in shown.out
    assert "as the planner chooses" in shown.out and shown.out.count("expected ") == 3
    assert shown.out.index(OLD) < shown.out.index(NEW)
    done = graph("skills", "--task-type", CHARGE, "--json").json
    assert (done["status"], done["error"]) == ("ok", None)
    assert [(one["version"], one["ok"], one["n"]) for one in done["ranking"]] == [
        (OLD, 58, 64), (NEW, 10, 40),
    ]  # fmt: skip
    assert "Nothing is measured" in graph("skills", "--task-type", "nothing").out


def test_a_question_in_words_says_how_it_was_understood(graph: Graph) -> None:
    shown = graph("ask", f"which version succeeded most for {CHARGE}?")
    assert shown.code == 0 and "Understood as: which version" in shown.out
    done = graph("ask", f"what changed before {CHARGE} began to fail?", "--json").json
    assert done["understood"] == "changes" and done["chosen_by"] == "rules"
    assert done["result"]["fall"]["suspects"][0]["kind"] in ("version", "definition")
    shown = graph("ask", f"what changed before {CHARGE} began to fail?")
    assert "fewer succeed" in shown.out and NEW in shown.out


def test_what_is_no_question_is_refused_with_examples_and_facts(graph: Graph) -> None:
    shown = graph("ask", "mailbox bounced, oh dear")
    assert shown.code == 1 and shown.out.startswith("I can answer these:")
    asked, facts = shown.out.split("Facts that come near:")
    assert asked.replace("\n", " ").count("as in: ") == 5 and "Mail.Bounced" in facts
    assert "'mailbox', 'oh', 'dear'" in shown.err
    done = graph("ask", "why did it fail?", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "graph_not_understood"
    assert "it names no run" in done.json["error"]["message"]


def test_each_kind_of_answer_is_shown(graph: Graph) -> None:
    shown = graph("ask", "which skill fails most?")
    said = "share of failures is surely greatest first"
    assert shown.code == 0 and said in shown.out.replace("\n", " ")
    counted = graph("ask", "how many runs failed?")
    assert "140 runs: 97 succeeded, 43 did not." in counted.out
    spent = graph("ask", "how much did each workflow cost?")
    assert spent.code == 0 and "orders" in spent.out and "USD" in spent.out
    for words, answer in (
        ("which runs failed?", "order-99"),
        (f"why does {CHARGE} fail?", "36 times Payments.Timeout"),
        (f"how did {CHARGE} develop?", "The success rate falls."),
        (f"is {OLD} better than {NEW}?", f"{OLD} succeeds more often"),
        ("what is different between order-0 and order-60?", "definition"),
        (f"why was {CHARGE} chosen?", "records no reason"),
        ("which task takes longest?", "median"),
        ("which task needs the most retries?", "1.00"),
        ("which sessions are there?", "No session is like that."),
    ):
        shown = graph("ask", words)
        assert shown.code == 0 and answer in shown.out, (words, shown)


def test_a_question_about_something_unknown_is_refused_with_what_comes_near(graph: Graph) -> None:
    shown = graph("ask", "which version works best for charging a payment?")
    assert shown.code == 1 and "'charging', 'payment'" in shown.err and CHARGE in shown.err
    assert shown.out.startswith("I can answer these:")


def test_vectors_of_another_length_are_found_refused_and_made_anew(graph: Graph, shop: str) -> None:
    assert graph("status", "--json").json["widths"].keys() == {"512"}
    before = graph("ask", "charging, oh dear", "--json").json["facts"]

    async def shorten() -> None:
        short = "vecf32([1, 2, 3])"
        async with GraphConnection(shop) as opened:
            for text in (
                f"MATCH (n:Entity) SET n.name_embedding = {short}",
                f"MATCH ()-[x:RELATES_TO]->() SET x.fact_embedding = {short}",
            ):
                await opened.write([query(text)])
            with pytest.raises(VectorsForeign):
                await write(opened, charge(1000))

    asyncio.run(shorten())
    found = graph("status", "--json")
    assert found.code == 1 and found.json["error"]["code"] == "graph_vectors"
    assert found.json["widths"].keys() == {"3"} and "--mend" in found.json["error"]["hint"]
    mended = graph("status", "--mend", "--json")
    assert mended.code == 0 and mended.json["widths"].keys() == {"512"}
    assert mended.json["mended"] > 20
    assert graph("ask", "charging, oh dear", "--json").json["facts"] == before != []


def test_a_short_name_of_a_skill_is_resolved(graph: Graph) -> None:
    short = graph("skills", "--skill", "charge_payment", "--json").json
    assert [one["version"] for one in short["ranking"]] == [OLD, NEW]
    versioned = graph("skills", "--skill", "charge_payment@2.0.0", "--json").json
    assert [one["version"] for one in versioned["ranking"]] == [NEW]


def test_names_that_are_unknown_are_refused_with_near_ones(graph: Graph) -> None:
    task = graph("skills", "--task-type", "orders.charge_paymnt")
    assert task.code == 2 and f"did you mean {CHARGE}" in task.err
    group = graph("stats", "--group", "dcf_insight")
    assert group.code == 2 and "did you mean dcf_insights" in group.err
    # A version that is known and was not measured lately is no mistake.
    assert graph("skills", "--task-type", CHARGE, "--since", "1d").code == 0


def test_a_run_is_a_tree(graph: Graph) -> None:
    shown = graph("run", "order-61")
    assert shown.code == 0 and "Charge#2 done" in shown.out and f"with {NEW}" in shown.out
    assert [one["status"] for one in graph("run", "order-61", "--json").json["outcomes"]] == [
        "failed", "done",
    ]  # fmt: skip
    missing = graph("run", "nobody")
    assert missing.code == 2 and "knows no run 'nobody'" in missing.err


def test_why_and_similar_give_reasons(graph: Graph) -> None:
    shown = graph("why", "order-70")
    assert shown.code == 0 and "like this: 36 of 36 failures" in shown.out
    assert f"another version {OLD}: 58 of 64" in shown.out
    alike = graph("similar", "order-70", "--limit", "3")
    assert alike.code == 0 and "the same workflow, orders" in alike.out.replace("\n", " ")
    assert len(graph("similar", "order-70", "--limit", "3", "--json").json["alike"]) == 3


def test_a_session_is_a_tree_and_what_was_delegated_is_counted(
    graph: Graph, shop_with_sessions: None
) -> None:
    shown = graph("session", "s-1")
    assert shown.code == 0 and "t-3 failed  mail.draft, 10.0 s" in shown.out
    assert f"with {DRAFT}" in shown.out and "by Ann (writing)" in shown.out
    assert "tasks: 9 of 12, 75 %" in shown.out and "Drafts fail as often as not." in shown.out
    assert graph("session", "s-1", "--json").json["session"]["state"] == "active"
    assert graph("session", "nobody").code == 2
    counted = graph("delegations", "--by", "companion", "--task-type", "mail.draft")
    assert counted.code == 0 and "ann" in counted.out and "3 of 6, 50 %" in counted.out
    assert "6 tasks; 6 with a price: 3.0000 USD" in counted.out
    wrong = graph("delegations", "--by", "companon")
    assert wrong.code == 2 and "did you mean companion?" in wrong.err
    listed = graph("patterns", "--task-type", "mail.draft")
    assert "mean_ms 10000, rate 0.5 (0.19-0.81), of 6 tasks" in listed.out.replace("\n", " ")
    assert len(graph("patterns", "--skill", DRAFT, "--json").json["patterns"]) == 1
    asked = graph("ask", "which companion fails most?", "--json").json
    assert asked["understood"] == "delegations" and asked["result"][0]["companion"] == "ann"
    assert "tasks: 9 of 12" in graph("ask", "what happened in session s-1?").out
    assert "Drafts fail as often as not." in graph("ask", "what patterns are there?").out


def test_insights_and_stats(graph: Graph) -> None:
    assert INSIGHT.statement in graph("insights").out
    assert graph("insights", "--json").json["insights"][0]["id"] == INSIGHT.id
    assert "144" in graph("stats").out
    only = graph("stats", "--group", "dcf_insights", "--json").json
    assert only["entities"] == {"Insight": 1} and only["episodes"] == {}


def test_the_export_is_lines_of_json_and_overwrites_nothing(graph: Graph, tmp_path: Path) -> None:
    done = graph("export", "graph.jsonl", "--json").json
    lines = [json.loads(line) for line in Path("graph.jsonl").read_text().splitlines()]
    assert len(lines) == done["nodes"] + done["edges"] and done["nodes"] > 280
    again = graph("export", "graph.jsonl")
    assert again.code == 2 and "--force" in again.err
    assert graph("export", "graph.jsonl", "--force").code == 0
    shown = graph("export", "-", "--group", "dcf_insights")
    assert INSIGHT.id in shown.out
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["graph.jsonl"]


def test_the_export_as_graphml_says_the_same_as_the_lines(graph: Graph) -> None:
    graph("export", "graph.jsonl")
    done = graph("export", "graph.graphml", "--json").json
    lines = [json.loads(line) for line in Path("graph.jsonl").read_text().splitlines()]
    root = ElementTree.parse("graph.graphml").getroot()
    space = {"g": "http://graphml.graphdrawing.org/xmlns"}
    keys = {key.attrib["id"]: dict(key.attrib) for key in root.findall("g:key", space)}
    nodes, edges = (root.findall(f"g:graph/g:{one}", space) for one in ("node", "edge"))
    assert (len(nodes), len(edges)) == (done["nodes"], done["edges"])
    read = {"long": int, "double": float, "boolean": lambda text: text == "true", "string": str}

    def data(element: ElementTree.Element) -> dict[str, Any]:
        found = {}
        for one in element.findall("g:data", space):
            key = keys[one.attrib["key"]]
            assert key["for"] == element.tag.partition("}")[2]
            found[key["attr.name"]] = read[key["attr.type"]](one.text or "")
        return found

    def told(properties: dict[str, Any]) -> dict[str, Any]:
        return {
            name: json.dumps(value) if isinstance(value, list) else value
            for name, value in properties.items()
            if value is not None
        }

    assert {node.attrib["id"]: data(node) for node in nodes} == {
        one["node"]: told(one["properties"]) | {"labels": ":".join(one["labels"])}
        for one in lines
        if "node" in one
    }
    assert [(edge.attrib["source"], edge.attrib["target"], data(edge)) for edge in edges] == [
        (one["from"], one["to"], told(one["properties"]) | {"type": one["edge"]})
        for one in lines
        if "edge" in one
    ]


def test_a_graph_that_is_off_or_away_is_said_to_be(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCF_GRAPH", "off")
    off = graph("stats")
    assert off.code == 1 and "switched off (DCF_GRAPH=off)" in off.err
    monkeypatch.delenv("DCF_GRAPH")
    monkeypatch.setenv("DCF_GRAPH_URL", "redis://:s3cret@127.0.0.1:1/0")
    away = graph("skills")
    assert away.code == 3 and "does not answer" in away.err and "s3cret" not in away.err
    assert "0 runs and 0 records wait in the outbox" in away.err
    assert graph("stats", "--json").json["error"]["code"] == "graph_away"


def test_a_bad_time_is_refused_before_anything_is_opened(graph: Graph) -> None:
    assert graph("skills", "--since", "yesterday").code == 2
