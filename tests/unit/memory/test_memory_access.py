"""The record of who read what from which node: all of it, for a while, and in nobody's way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory_world import Numbered, Ticking

from dcf.memory import (
    LOST_READS,
    SYSTEM,
    Actor,
    ContextSetting,
    ExperimentMemory,
    Memory,
    MemoryFull,
    NewEntry,
    NewNode,
    Node,
    Reading,
    Source,
)
from dcf.memory.access import access_log, reading

DAY_MS = 24 * 3600 * 1000
ADA, BOB = Actor("user", "ada"), Actor("agent", "bob", "looks around")


async def grown(memory: Memory) -> tuple[Node, Node]:
    """A node with two entries and its child with one."""
    texts = [NewEntry("a plum"), NewEntry("a fig")]
    first = await memory.nodes.add(NewNode("shop", "exp", "first"), *texts, by=ADA)
    below = NewNode("shop", "exp", "below", parent=first.id)
    return first, await memory.nodes.add(below, NewEntry("a plum tree"), by=ADA)


def brief(found: tuple[Reading, ...]) -> list[tuple[str, str, str | None, str | None, int]]:
    return [(one.by.name, one.operation, one.node, one.source, one.count) for one in found]


async def test_every_read_of_entries_is_on_record(memory: Memory) -> None:
    first, below = await grown(memory)
    assert await memory.access.list() == ()

    found = await memory.search.find("plum", node=below.id, by=BOB)
    both = brief(await memory.access.list())
    assert sorted(both) == [
        ("bob", "search", "exp/below", "exp/below", 1),
        ("bob", "search", "exp/below", "exp/first", 1 + (len(found) == 3)),
    ]
    await memory.nodes.entries(below.id, by=BOB)
    await memory.nodes.entry(found[0].ref, by=BOB)
    await memory.nodes.count(first.id, by=ADA)
    await memory.nodes.difference(first.id, below.id, by=ADA)
    await memory.nodes.own("shop", "exp", ["first"])
    await memory.search.find("plum", by=ADA)
    await memory.search.find("kiwi", node=first.id, kinds=["observation"], by=ADA)
    read = brief(await memory.access.list())[: -len(both)][::-1]
    assert read[:2] == [
        ("bob", "entries", "exp/below", "exp/first", 2),
        ("bob", "entries", "exp/below", "exp/below", 1),
    ]
    assert ("ada", "count", "exp/first", "exp/first", 2) in read
    assert ("ada", "difference", "exp/below", "exp/first", 2) in read
    assert ("dcf", "own", None, "exp/first", 2) in read
    assert ("ada", "search", None, "exp/below", 1) in read
    assert read[-1] == ("ada", "search", "exp/first", None, 0)
    (entry,) = [one for one in await memory.access.list() if one.operation == "entry"]
    assert entry.entries == (found[0].ref,) and entry.by == BOB


async def test_what_a_context_tells_of_nodes_is_on_record(memory: Memory) -> None:
    first, below = await grown(memory)
    long = NewEntry("a fig " * 200)
    branch = await memory.nodes.add(NewNode("shop", "exp", "branch", below.id), long, by=ADA)
    setting = ContextSetting("index", index_tokens=0, details_tokens=80)

    async def told(setting: ContextSetting, *branches: Node) -> list[tuple[object, ...]]:
        before = await memory.access.list(limit=1)
        ids = [one.id for one in branches]
        pack = await memory.contexts.of_work(
            "shop", "orders", setting, node=below.id, branches=ids, by=BOB
        )
        seen = [one for one in await memory.access.list() if one not in before]
        assert {one.by for one in seen} == {BOB}
        entries = {entry for one in seen for entry in one.entries}
        assert {f"dcf://memory/{entry}" for entry in entries} == {
            one.offer.uri for one in pack.items
        }
        await memory.ledger.database.write(lambda it: it.execute("DELETE FROM node_reads"))
        return sorted(brief(tuple(seen)), key=str)

    whole = [
        ("bob", "context", "exp/below", "exp/below", 1),
        ("bob", "context", "exp/below", "exp/first", 2),
    ]
    assert await told(ContextSetting("index")) == whole
    of_branch = ("bob", "context", "exp/below", "exp/branch", 1)
    assert await told(ContextSetting("index"), branch) == sorted([*whole, of_branch], key=str)
    # What does not fit was not read.
    assert await told(setting, branch) == [("bob", "context", "exp/below", None, 0)]
    assert await told(ContextSetting("index", index_tokens=0), branch) == [of_branch]
    unsaid = ContextSetting("index")
    await memory.contexts.of_work("shop", "orders", unsaid, node=first.id)
    assert [one.by for one in await memory.access.list()] == [SYSTEM]
    await memory.contexts.of_work("shop", "orders", unsaid)
    assert len(await memory.access.list()) == 1


async def test_the_record_is_asked_by_node_actor_and_time(memory: Memory, clock: Ticking) -> None:
    first, below = await grown(memory)
    await memory.nodes.entries(below.id, by=BOB)
    await memory.access.flush()
    clock.now += 1_000
    later = clock.now
    await memory.nodes.entries(first.id, by=ADA)

    access = memory.access
    assert [one.by.name for one in await access.list()] == ["ada", "bob", "bob"]
    for name in (below.id, "exp/below"):
        assert [one.by.name for one in await access.list(node=name)] == ["bob", "bob"]
    assert [one.by.name for one in await access.list(node=first.id)] == ["ada", "bob"]
    assert [one.by.name for one in await access.list(by="ada")] == ["ada"]
    assert [one.by.name for one in await access.list(since=later)] == ["ada"]
    (newest,) = await access.list(limit=1)
    assert len(await access.list(before=newest.seq)) == 2
    # What was read stays on record when the node is gone, as it was called then.
    await memory.nodes.remove(first.id, by=ADA)
    assert len(await access.list(node="exp/below")) == 2


async def test_old_rows_go_a_few_at_a_time_when_new_ones_are_written(
    memory: Memory, clock: Ticking
) -> None:
    first, _ = await grown(memory)
    for _ in range(300):
        await memory.nodes.count(first.id)
    await memory.access.flush()
    assert len(await memory.access.list(limit=1_000)) == 300
    clock.now += 29 * DAY_MS
    await memory.nodes.count(first.id, by=BOB)
    assert len(await memory.access.list(limit=1_000)) == 301
    clock.now += 2 * DAY_MS
    left = []
    for _ in range(4):
        await memory.nodes.count(first.id, by=ADA)
        left.append(len(await memory.access.list(limit=1_000)))
    assert left == [302 - 102, 201 - 102, 100 - 96, 5]
    assert {one.by.name for one in await memory.access.list()} == {"bob", "ada"}


async def test_not_more_rows_are_kept_than_a_limit(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 10)
    first, _ = await grown(memory)
    for _ in range(25):
        await memory.nodes.count(first.id)
    assert len(await memory.access.list()) == 10


async def test_what_is_wrong_with_the_record_is_no_readers_trouble(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise MemoryFull(path="m.db")

    first, _ = await grown(memory)
    with monkeypatch.context() as broken:
        broken.setattr(access_log, "write_noted", full)
        assert await memory.nodes.count(first.id) == 2
        assert await memory.access.list() == ()
        assert await memory.access.list() == ()
    assert "1 reads are missing in the access log" in caplog.text
    # As soon as it can be written it says itself what is missing in it, whoever is asked for.
    for asked in ({}, {"by": "ada"}, {"node": first.id}, {"within": ("shop", "exp")}):
        (lost,) = await memory.access.list(**asked)  # type: ignore[arg-type]
        assert (lost.operation, lost.count, lost.by) == (LOST_READS, 1, SYSTEM)


async def test_reads_beyond_what_may_wait_are_counted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(access_log, "_MOST_WAITING", 3)
    first, _ = await grown(memory)
    # Each waits for the file, and meanwhile none is written.
    for _ in range(8):
        memory.access.note(ADA, "count", first.id, (), 2)
    lost, *kept = await memory.access.list()
    assert (lost.operation, lost.count, len(kept)) == (LOST_READS, 5, 3)
    assert "5 reads are missing in the access log" in caplog.text
    memory.access.note(ADA, "count", first.id, (), 2)
    assert [one.operation for one in await memory.access.list(limit=2)] == ["count", LOST_READS]


async def test_who_sees_a_tree_or_takes_a_checkpoint_along_is_on_record(
    memory: Memory, experiment: ExperimentMemory, tmp_path: Path
) -> None:
    first, _ = await grown(memory)
    await memory.nodes.tree(first.id, by=ADA)
    assert brief(await memory.access.list()) == [("ada", "tree", "exp/first", "exp/first", 3)]
    await memory.snapshots.back_up("shop", "exp", tmp_path, by=ADA)
    # What a worker keeps by itself nobody reads.
    await memory.snapshots.back_up("shop", "exp", tmp_path)
    taken = [one for one in await memory.access.list() if one.operation == "backup"]
    assert sorted(brief(tuple(taken)), key=str) == [
        ("ada", "backup", None, "exp/below", 1),
        ("ada", "backup", None, "exp/first", 2),
    ]
    experiment._set_current_node("A")
    kept = await experiment.add_experiment_result("A", "a plum", artifacts=["m.json"])
    await experiment.add_memory("A", "a fig")
    await experiment.audit_memory(str(tmp_path))
    await experiment.backup(tmp_path / "exp-1")
    reads = (await experiment.access_log())["reads"]
    assert [(one["operation"], one["source"], one["count"]) for one in reads] == [
        ("backup", "exp-1/A", 2),
        ("audit", "exp-1/A", 1),
    ]
    assert reads[1]["entries"] == [kept["id"]]


async def test_what_is_noted_is_written_soon_and_at_the_end(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        first, _ = await grown(memory)
        await memory.nodes.count(first.id)
        async with asyncio.timeout(10):
            while not await memory.ledger.read(_rows):
                await asyncio.sleep(0.05)
        for _ in range(50):
            await memory.nodes.count(first.id)
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        assert await memory.ledger.read(_rows) == 51


def _rows(connection: object) -> int:
    return int(connection.execute("SELECT count(*) FROM node_reads").fetchone()[0])  # type: ignore[attr-defined]


async def test_nothing_is_noted_where_nothing_is_to_stay(tmp_path: Path) -> None:
    source = Source(tmp_path / "m.db", access_days=0)
    async with Memory.open(source, clock=Ticking(), new_id=Numbered()) as memory:
        first, _ = await grown(memory)
        await memory.nodes.entries(first.id)
        assert await memory.access.list() == ()


@pytest.fixture
def experiment(memory: Memory) -> Iterator[ExperimentMemory]:
    yield ExperimentMemory(memory, "lab", "exp-1", by=BOB, environment={})


async def test_an_experiment_tells_who_read_in_which_node(experiment: ExperimentMemory) -> None:
    experiment._set_current_node("A")
    await experiment.add_memory("A", "a plum")
    experiment._set_current_node("B")
    await experiment.search_memory("plum", ["A"])
    await experiment.get_node_memory("A")
    await experiment.react_add("a step")
    await experiment.list_react_entries()

    reads = (await experiment.access_log(node_id="A"))["reads"]
    assert [(one["operation"], one["source"], one["count"]) for one in reads] == [
        ("own", "exp-1/A", 1),
        ("search", "exp-1/A", 1),
    ]
    assert {(one["by"], one["reason"]) for one in reads} == {("agent:bob", "in B")}
    assert len((await experiment.access_log())["reads"]) == 3
    assert (await experiment.access_log(by="ada")) == {"reads": []}
    assert (await experiment.access_log(since=reads[0]["ts"]))["reads"][-1] == reads[0]


async def test_a_long_reason_is_cut(memory: Memory) -> None:
    first, _ = await grown(memory)

    await memory.nodes.entries(first.id, by=BOB.because("x" * 60_000))

    assert [len(one.by.reason) for one in await memory.access.list()] == [1_000]


async def test_an_experiment_tells_nothing_of_other_experiments_and_projects(
    memory: Memory, experiment: ExperimentMemory
) -> None:
    ids = {}
    for project, checkpoint in (("lab", "exp-1"), ("lab", "exp-2"), ("shop", "exp-1")):
        entry = NewEntry(f"a plum of {project}/{checkpoint}")
        node = await memory.nodes.add(NewNode(project, checkpoint, "A"), entry, by=ADA)
        ids[project, checkpoint] = node.id
        await memory.nodes.entries(node.id, by=ADA)
    await memory.nodes.difference(ids["lab", "exp-1"], ids["lab", "exp-2"], by=ADA)
    await memory.search.find("plum", by=ADA)
    everybody = await memory.access.list()
    assert {one.source_id for one in everybody} == set(ids.values())

    for reads in (await experiment.access_log(), await experiment.access_log(node_id="A")):
        assert {(one["operation"], one["node"], one["source"]) for one in reads["reads"]} == {
            ("entries", "exp-1/A", "exp-1/A"),
            ("difference", "exp-1/A", "exp-1/A"),
            ("search", None, "exp-1/A"),
        }
        told = {entry for one in reads["reads"] for entry in one["entries"]}
        own = await memory.nodes.entries(ids["lab", "exp-1"])
        assert told == {one.id for one in own}
    # As many as were asked for, however many others are newer.
    await memory.nodes.entries(ids["shop", "exp-1"], by=ADA)
    assert len((await experiment.access_log(limit=3))["reads"]) == 3
