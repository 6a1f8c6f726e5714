"""The memory of an experiment, called as programs that search a tree of ideas call it."""

from __future__ import annotations

import asyncio

import pytest

from dcf.memory import Actor, ExperimentMemory, Memory, NewEntry, NewNode


@pytest.fixture
def variables() -> dict[str, str]:
    return {"ARI_CURRENT_NODE_ID": "A"}


@pytest.fixture
def experiment(memory: Memory, by: Actor, variables: dict[str, str]) -> ExperimentMemory:
    return ExperimentMemory(memory, "lab", "exp-1", by=by, environment=variables)


async def said(experiment: ExperimentMemory, node: str, text: str, **metadata: object) -> str:
    experiment._set_current_node(node)
    done = await experiment.add_memory(node, text, metadata)
    assert done["ok"], done
    return str(done["id"])


async def test_a_node_finds_what_its_ancestors_said_and_nothing_else(
    experiment: ExperimentMemory,
) -> None:
    root = await said(experiment, "root", "The plum loss is flat.", metrics=[0.5])
    await said(experiment, "A", "The plum overfits.")
    await said(experiment, "B", "The plum diverges.")

    found = (await experiment.search_memory("plum loss", ["root"], limit=5))["results"]
    assert [one.keys() >= {"entry_id", "node_id", "text", "metadata", "score"} for one in found]
    assert [(one["entry_id"], one["node_id"]) for one in found] == [(root, "root")]
    assert found[0]["metadata"] == {"metrics": [0.5]}
    both = (await experiment.search_memory("plum", ["root", "A"]))["results"]
    assert {one["node_id"] for one in both} == {"root", "A"}
    assert await experiment.search_memory("plum", []) == {"results": []}
    assert await experiment.search_memory("plum", ["nobody"]) == {"results": []}
    assert len((await experiment.search_memory("plum", ["root", "A", "B"], 2))["results"]) == 2


async def test_only_the_current_node_is_written_to(
    experiment: ExperimentMemory, variables: dict[str, str]
) -> None:
    assert (await experiment.add_memory("A", "a plum"))["ok"]
    refused = await experiment.add_memory("B", "a fig")
    assert refused == {"ok": False, "error": "'B' is not the current node, which is 'A'"}
    assert (await experiment.clear_node_memory("B"))["removed"] == 0
    variables.clear()
    assert "no current node" in (await experiment.add_memory("A", "a fig"))["error"]
    experiment._set_current_node("A")
    assert not (await experiment.add_memory("A", "  "))["ok"]
    assert await experiment.clear_node_memory("A") == {"removed": 1}
    assert await experiment.get_node_memory("A") == {"entries": []}


async def test_what_nodes_have_is_read_in_the_order_of_time(experiment: ExperimentMemory) -> None:
    for text in ("first", "second"):
        await said(experiment, "A", text)
    await said(experiment, "B", "third")

    entries = (await experiment.get_node_memory("A"))["entries"]
    assert [one["text"] for one in entries] == ["first", "second"]
    assert entries[0]["ts"] < entries[1]["ts"]
    everything = await experiment.list_all_nodes()
    assert {name: len(kept) for name, kept in everything["by_node"].items()} == {"A": 2, "B": 1}
    assert await experiment.bulk_get_node_memory(["A", "C"]) == {"by_node": {"A": entries, "C": []}}
    assert (await experiment.health()) == {"ok": True, "nodes": 2, "entries": 3, "problems": []}


async def test_an_experiment_is_seeded_once_by_whoever_comes_first(
    experiment: ExperimentMemory,
) -> None:
    assert await experiment.get_experiment_context() == {}
    seeds = [
        experiment.seed_core_memory("a scientist", "ada", {"goal": goal, "hardware": "2 cores"})
        for goal in ("lower loss", "more speed", "less memory")
    ]
    done = await asyncio.gather(*seeds)
    assert [one["ok"] for one in done].count(True) == 1
    context = await experiment.get_experiment_context()
    assert context["hardware"] == "2 cores" and context["persona"] == "a scientist"
    assert all(one["context"] == context for one in done if not one["ok"])
    assert await experiment.search_memory("loss speed", ["A", "B"]) == {"results": []}


async def test_the_trace_has_the_steps_of_all_nodes(experiment: ExperimentMemory) -> None:
    for node in ("A", "B", "A"):
        assert (await experiment.react_add(f"a step of {node}", {"node_id": node}))["ok"]
    await said(experiment, "A", "a plum of a node")

    entries = (await experiment.react_get_all())["entries"]
    assert [one["metadata"]["node_id"] for one in entries] == ["A", "B", "A"]
    assert (await experiment.list_react_entries(2))["entries"] == entries[1:]
    assert (await experiment.list_react_entries(0))["entries"] == []
    assert len((await experiment.react_search("step", limit=10))["results"]) == 3
    assert (await experiment.search_memory("step", ["A", "B"]))["results"] == []


async def test_kinds_and_artifacts_choose_what_is_found(experiment: ExperimentMemory) -> None:
    experiment._set_current_node("A")
    done = await experiment.add_experiment_result("A", "plum loss 0.5", artifacts=["m.json"])
    await experiment.add_failure_case("A", "plum out of memory")
    await experiment.add_procedure_memory("A", "plum: warm up first")
    await experiment.add_reflection("A", "plum is promising", 0.8)
    event = await experiment.add_reproducibility_event("A", done["id"], "confirmed", "plum again")
    assert event["ok"]
    assert not (await experiment.add_reflection("A", "plum", 2.0))["ok"]

    async def found(**more: object) -> set[str]:
        answer = await experiment.search_research_memory("plum", ["A"], limit=9, **more)  # type: ignore[arg-type]
        return {one["kind"] for one in answer["results"]}

    assert len(await found()) == 5
    assert await found(kinds=["reflection", "failure_case"]) == {"reflection", "failure_case"}
    assert await found(require_artifacts=True) == {"experiment_result"}


async def test_what_others_exported_is_taken_in_and_all_can_be_purged(
    experiment: ExperimentMemory, memory: Memory, by: Actor
) -> None:
    entries = [
        {"node_id": "A", "text": "a plum", "metadata": {"m": 1}},
        {"node_id": "B", "text": ""},
        {"node_id": "B", "text": "a fig"},
    ]
    done = await experiment.bulk_import(entries, "node_scope")
    assert done["imported"] == 2 and done["errors"][0].startswith("entry 1: ")
    assert (await experiment.bulk_import([{"content": "a step"}], "react")) == {"imported": 1}
    below = await memory.nodes.named("lab", "exp-1", "A")
    await memory.nodes.add(NewNode("lab", "exp-1", "C", below.id), NewEntry("a kiwi"), by=by)
    assert await experiment.purge_checkpoint() == {"removed": 4}
    assert await experiment.list_all_nodes() == {"by_node": {}}
    assert await memory.search.find("plum") == ()
