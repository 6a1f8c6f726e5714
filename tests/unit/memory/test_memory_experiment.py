"""The memory of an experiment, called as programs that search a tree of ideas call it."""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
from pathlib import Path

import pytest
from campaigns import REMEMBERED, settled

from dcf.memory import OPERATIONS, Actor, ExperimentMemory, Memory, NewEntry, NewNode

pytestmark = settled(*REMEMBERED, "dcf/workspace")


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
    experiment: ExperimentMemory, memory: Memory, by: Actor, variables: dict[str, str]
) -> None:
    variables.clear()
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


async def test_an_import_keeps_times_and_obeys_the_current_node(
    experiment: ExperimentMemory, memory: Memory, by: Actor, variables: dict[str, str]
) -> None:
    other = ExperimentMemory(memory, "lab", "exp-0", by=by, environment=variables)
    await said(other, "A", "the second")
    old = {"node_id": "A", "text": "the first", "ts": 1_600_000_000.25}
    exported = (await other.get_node_memory("A"))["entries"]
    given = [{**exported[0], "node_id": "A"}, old]
    assert await experiment.bulk_import(given) == {"imported": 2}
    kept = (await experiment.get_node_memory("A"))["entries"]
    assert [(one["text"], one["ts"]) for one in kept] == [
        ("the first", 1_600_000_000.25),
        ("the second", exported[0]["ts"]),
    ]
    newest = await experiment.search_memory("", ["A"])
    assert [one["text"] for one in newest["results"]] == ["the second", "the first"]
    steps = [{"content": "a step", "ts": 3}, {"content": "a thought", "kind": "thought"}]
    assert await experiment.bulk_import(steps, "react") == {"imported": 2}
    trace = (await experiment.react_get_all())["entries"]
    assert [one["kind"] for one in trace] == ["step", "thought"] and trace[0]["ts"] == 3

    wrong = [
        ({"node_id": "B"}, "'B' is not the current node, which is 'A'"),
        ({"node_id": "A", "ts": "noon"}, "ts is 'noon', which is no time in seconds"),
        ({"node_id": "A", "ts": 1e300}, "ts is 1e+300, which is no time in seconds"),
        ({"node_id": "A", "ts": float("nan")}, "ts is nan, which is no time in seconds"),
    ]
    done = await experiment.bulk_import([{"text": "a fig", **one} for one, _ in wrong])
    assert done["imported"] == 0
    for number, (_, error) in enumerate(wrong):
        assert done["errors"][number].startswith(f"entry {number}: {error}")
    unknown = await experiment.bulk_import([old], "nodes")
    assert not unknown["ok"] and "no kind 'nodes' of entries: one of node_scope" in unknown["error"]
    variables.clear()
    ours = await experiment.bulk_import(
        [{"node_id": name, "text": "a fig"} for name in (".trace", ".context")]
    )
    assert ours["imported"] == 0 and len(ours["errors"]) == 2
    assert "'.context' is no node of the tree" in ours["errors"][1]
    assert (await experiment.health())["entries"] == 2 and await memory.check() == ()


async def test_what_is_chosen_is_found_however_many_others_fit_better(
    experiment: ExperimentMemory, memory: Memory, by: Actor
) -> None:
    """5,000 notes of the same node have more of the query than the one reflection and result."""
    experiment._set_current_node("A")
    await experiment.add_memory("A", "begin")
    node = await memory.nodes.named("lab", "exp-1", "A")
    others = [NewEntry(f"plum loss diverges {number}") for number in range(5_000)]
    await memory.nodes.write(node.id, *others, by=by)
    await experiment.add_reflection("A", "a plum, perhaps", 0.5)
    await experiment.add_experiment_result("A", "the plum", artifacts=["m.json"])
    await experiment.add_experiment_result("A", "a plum without files", artifacts=[])

    async def found(query: str, **more: object) -> list[str]:
        answer = await experiment.search_research_memory(query, ["A"], **more)  # type: ignore[arg-type]
        return [one["text"] for one in answer["results"]]

    for query in ("plum loss diverges", ""):
        assert await found(query, kinds=["reflection"]) == ["a plum, perhaps"]
        assert await found(query, require_artifacts=True) == ["the plum"]
        assert await found(query, kinds=["procedure"]) == []
        assert await found(query, kinds=["reflection"], require_artifacts=True) == []


async def test_what_was_reproduced_is_given_as_verified(experiment: ExperimentMemory) -> None:
    first = await said(experiment, "root", "plum one")
    second = await said(experiment, "root", "plum two")
    await said(experiment, "root", "plum three")
    for node, target, status in (
        ("A", first, "failed"),
        ("A", first, "Confirmed"),
        ("A", second, "confirmed"),
        ("B", second, "refuted"),
    ):
        experiment._set_current_node(node)
        assert (await experiment.add_reproducibility_event(node, target, status))["ok"]

    async def verified(*nodes: str, limit: int = 5) -> list[tuple[str, str]]:
        answer = await experiment.get_verified_context(nodes, "which plum", limit)
        assert answer["purpose"] == "which plum"
        return [(one["text"], one["verified_by"]["status"]) for one in answer["results"]]

    both = [("plum one", "Confirmed"), ("plum two", "confirmed")]
    assert sorted(await verified("root", "A")) == both
    assert len(await verified("root", "A", limit=1)) == 1
    assert await verified("root", "A", "B") == both[:1]
    assert await verified("root") == []


async def test_an_edited_event_stands_in_place_of_the_one_that_it_is_of(
    experiment: ExperimentMemory, memory: Memory, by: Actor
) -> None:
    first = await said(experiment, "base", "plum one")
    second = await said(experiment, "base", "plum two")
    done = await experiment.add_reproducibility_event("base", first, "confirmed")
    base = await memory.nodes.named("lab", "exp-1", "base")
    branch = await memory.nodes.add(NewNode("lab", "exp-1", "A", base.id), by=by)

    async def verified(*nodes: str) -> list[tuple[str, str]]:
        answer = await experiment.get_verified_context(nodes, "which plum", 9)
        found = [(one["text"], one["verified_by"]["status"]) for one in answer["results"]]
        (node,) = [one for one in (base, branch) if one.name == nodes[-1]]
        by_node = await memory.search.find("which plum", node=node.id, verified=True)
        assert sorted(one.text for one in by_node) == sorted(text for text, _ in found)
        return sorted(found)

    # The branch found that it was the other one.
    event = {"target_memory_id": second, "status": "confirmed"}
    own = await memory.nodes.edit(branch.id, done["id"], by=by, metadata=event)
    assert await verified("base", "A") == [("plum two", "confirmed")]
    assert await verified("base") == [("plum one", "confirmed")]
    # What the base is given of an event is newer than the event, and gives way to it all the same.
    refuted = {"target_memory_id": second, "status": "refuted"}
    new = NewEntry("plum two again", "reproducibility_event", refuted)
    (last,) = await memory.nodes.write(branch.id, new, by=by)
    await memory.nodes.promote(branch.id, last.id, by=by)
    passed = {**refuted, "status": "passed"}
    await memory.nodes.edit(branch.id, last.id, by=by, metadata=passed)
    await memory.nodes.delete(branch.id, own.id, by=by)
    assert await verified("base", "A") == [("plum one", "confirmed"), ("plum two", "passed")]
    assert await verified("base") == [("plum one", "confirmed")]


async def test_a_report_becomes_entries_once_and_its_files_are_audited(
    experiment: ExperimentMemory, tmp_path: Path
) -> None:
    work = tmp_path / "runs" / "r1" / "A"
    work.mkdir(parents=True)
    (work / "m.json").write_text("{}")
    (work / "model.bin").write_bytes(bytes(3_000_000))
    (work / "out").symlink_to(tmp_path)
    report = {
        "summary": "plum loss 0.5",
        "metrics": {"loss": 0.5},
        "artifacts": ["m.json", {"path": "model.bin"}],
        "failures": ["plum out of memory"],
        "reflections": [{"text": "plum is promising", "confidence": 0.7}],
    }
    done = await experiment.consolidate_node_memory("A", report, str(work), "r1")
    assert done["ok"] and len(done["ids"]) == 3
    # sha256sum of a file of two characters: {}
    assert done["artifacts"][0] == {
        "path": "m.json",
        "sha256": "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "bytes": 2,
    }
    assert await experiment.consolidate_node_memory("A", report, str(work), "r1") == done
    entries = (await experiment.get_node_memory("A"))["entries"]
    assert [one["kind"] for one in entries] == ["experiment_result", "failure_case", "reflection"]
    assert entries[0]["metadata"]["metrics"] == {"loss": 0.5}
    assert entries[2]["metadata"]["confidence"] == 0.7
    other = await experiment.consolidate_node_memory(
        "A", {**report, "failures": []}, str(work), "r1"
    )
    assert len((await experiment.get_node_memory("A"))["entries"]) == len(other["ids"]) == 2

    audit = await experiment.audit_memory(str(tmp_path / "runs"), "r1")
    assert audit["ok"] and (audit["checked"], audit["intact"]) == (2, 2)
    copied = shutil.copytree(tmp_path / "runs", tmp_path / "copy", symlinks=True)
    assert (await experiment.audit_memory(str(copied)))["ok"]
    (copied / "r1" / "A" / "m.json").write_text("[]")
    (copied / "r1" / "A" / "model.bin").unlink()
    found = await experiment.audit_memory(str(copied))
    assert not found["ok"]
    assert {one["path"]: one["state"] for one in found["problems"]} == {
        "m.json": "changed",
        "model.bin": "missing",
    }
    assert (await experiment.audit_memory(str(copied), "r2"))["checked"] == 0
    outside = {"path": "../../../secret", "sha256": "0" * 64}
    (tmp_path / "secret").write_text("x")
    linked = {"path": "out/secret", "sha256": "0" * 64}
    await experiment.add_experiment_result(
        "A", "plum", work_dir=str(work), artifacts=[outside, linked, "m.json"]
    )
    found = await experiment.audit_memory(str(tmp_path / "runs"))
    assert [(one["state"], one["found"]) for one in found["problems"]] == [
        ("outside", None),
        ("outside", None),
        ("unrecorded", None),
    ]
    await experiment.add_experiment_result("A", "fig", work_dir="b" * 4000, artifacts=["m.json"])
    found = await experiment.audit_memory(str(tmp_path / "runs"))
    assert len(found["problems"]) == 4


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ({}, "it has no summary"),
        ({"summary": "a", "artifacts": "m"}, "artifacts is str"),
        ({"summary": "a", "failures": [3]}, "failures has 3"),
        ({"summary": "a", "artifacts": ["../b"]}, "outside of the root"),
        ({"summary": "a", "artifacts": ["pipe"]}, "no regular file"),
        ({"summary": "a", "artifacts": ["gone"]}, "No such file"),
    ],
)
async def test_a_wrong_report_leaves_nothing(
    experiment: ExperimentMemory, tmp_path: Path, report: dict[str, object], said: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = await experiment.consolidate_node_memory("A", report, str(tmp_path), "r1")
    assert not done["ok"] and said in done["error"]
    assert await experiment.list_all_nodes() == {"by_node": {}}


async def test_a_server_looks_into_its_folder_alone(
    memory: Memory, by: Actor, tmp_path: Path
) -> None:
    inside = tmp_path / "served"
    inside.mkdir()
    experiment = ExperimentMemory(memory, "lab", "x", by=by, environment={}, files=inside)
    experiment._set_current_node("A")
    done = await experiment.consolidate_node_memory(
        "A", {"summary": "a", "artifacts": ["b"]}, str(tmp_path), "r"
    )
    assert not done["ok"] and "lies outside" in done["error"]
    assert "lies outside" in (await experiment.audit_memory(".."))["error"]
    assert (await experiment.audit_memory("."))["ok"]


async def test_the_context_is_changed_by_an_explicit_operation(
    experiment: ExperimentMemory,
) -> None:
    assert not (await experiment.change_experiment_context({"goal": "speed"}))["ok"]
    await experiment.seed_core_memory(context={"goal": "lower loss", "hardware": "2 cores"})
    await asyncio.gather(
        experiment.change_experiment_context({"goal": "speed", "hardware": None}),
        experiment.change_experiment_context({"primary_metric": "s"}),
    )
    expected = {"persona": "", "human": "", "goal": "speed", "primary_metric": "s"}
    assert await experiment.get_experiment_context() == expected


def test_every_operation_of_the_class_is_in_the_table() -> None:
    public = {
        name
        for name, member in vars(ExperimentMemory).items()
        if inspect.iscoroutinefunction(member) and not name.startswith("_")
    }
    assert public == {name for name, one in OPERATIONS.items() if not one.of_caller}
