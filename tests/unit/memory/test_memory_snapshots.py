"""Snapshots of a checkpoint: what comes out of a file is what went in, or it is said."""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import json
import os
import shutil
import signal
from contextlib import closing, suppress
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from campaigns import REMEMBERED, SOAK, campaign, settled
from memory_world import Ticking, started

from dcf.memory import (
    SNAPSHOT_FILE,
    Actor,
    CheckpointDiffers,
    ExperimentMemory,
    InvalidEntry,
    Memory,
    MemoryKey,
    MemoryProblem,
    NewEntry,
    NewNode,
    Retention,
    SnapshotBusy,
    SnapshotDamaged,
    SnapshotDiverged,
    SnapshotEncrypted,
    SnapshotMissing,
    Snapshots,
    SnapshotTooLarge,
    SnapshotTooNew,
    SnapshotUnreadable,
    Source,
    UnknownCheckpoint,
    random_id,
)
from dcf.memory.snapshots import keeping, sealed
from dcf.memory.snapshots import lines as lines_of

pytestmark = settled(*REMEMBERED, "dcf/workspace")

BY = Actor("user", "ada")
KEY = f"x'{'a' * 64}'"
"""A key as it is, which SQLCipher derives from no passphrase: that takes a while each time."""
WORDS = ("plum", "fig", "pear", "kiwi")
ACTS = [
    "add",
    "write",
    "write",
    "write",
    "edit",
    "edit",
    "promote",
    "delete",
    "move",
    "change",
    "remove",
]


def opened(file: Path, *, key: str | None = None, embedder: str = "wordllama") -> Any:
    return Memory.open(Source(file, key), clock=Ticking(), new_id=random_id, embedder=embedder)


async def change(memory: Memory, rng: Random) -> None:
    """One random change of the checkpoint ``x`` of the project ``p``."""
    nodes = memory.nodes
    root, *rest = await nodes.tree((await nodes.named("p")).id)
    node = rng.choice([one.node for one in rest])
    entries = await nodes.entries(node.id)
    text = " ".join(rng.choices(WORDS, k=3))
    noted = {"loss": rng.random(), "note": text}
    match rng.choice(ACTS):
        case "add":
            new = NewNode("p", "x", f"n{rng.random()}", node.id, text, rng.random(), noted)
            await nodes.add(new, NewEntry(text), by=BY)
        case "write":
            await nodes.write(node.id, NewEntry(text, "result", noted), by=BY.because(text))
        case "edit" if entries:
            await nodes.edit(node.id, rng.choice(entries).id, by=BY, text=text)
        case "promote" if entries and node.parent != root.node.id:
            with suppress(MemoryProblem):
                await nodes.promote(node.id, rng.choice(entries).id, by=BY)
        case "delete" if entries:
            with suppress(MemoryProblem):
                await nodes.delete(node.id, rng.choice(entries).id, by=BY)
        case "move":
            with suppress(MemoryProblem):
                await nodes.move(node.id, rng.choice(rest).node.id, by=BY)
        case "change":
            await nodes.change(node.id, by=BY, score=rng.random(), title=text)
        case "remove" if node.id != rest[0].node.id:
            await nodes.remove(node.id, by=BY)


async def looks(memory: Memory, project: str = "p", checkpoint: str = "x") -> dict[str, Any]:
    """All that can be read of a checkpoint, but for what the project is called."""
    root = await memory.nodes.named(project)
    every = await memory.nodes.tree(root.id)
    tree = [one for one in every if one.node.checkpoint == checkpoint]
    seen: dict[str, Any] = {}
    for one in tree:
        node = one.node
        parent = None if node.parent == root.id else node.parent
        lineage = [it.id for it in await memory.nodes.lineage(node.id)][1:]
        found = [await memory.search.find(query, node=node.id, k=50) for query in ("", *WORDS)]
        seen[node.id] = [
            asdict(replace(node, project="", checkpoint="", parent=parent)),
            (one.depth, one.entries, lineage),
            [asdict(it) for it in await memory.nodes.entries(node.id, limit=1_000)],
            [[(hit.ref, hit.score, hit.words) for hit in hits] for hits in found],
        ]
    inside = {it["id"] for _, _, entries, _ in seen.values() for it in entries}
    events = await memory.events.list(limit=10_000)
    past: dict[str, list[Any]] = {}
    for it in reversed(events):
        if it.entity_id in inside and it.entity == "entry":
            past.setdefault(it.entity_id, []).append((it.at, it.by, it.change))
    return {"nodes": list(seen.items()), "past": past}


@pytest.mark.timeout(600)
@campaign(50)
def test_what_is_restored_elsewhere_is_what_was_there(share: int) -> None:
    async def run(folder: Path) -> None:
        rng = Random(share)
        async with opened(folder / "one.db") as one, opened(folder / "two.db") as two:
            await one.nodes.add(NewNode("p", "x", "first"), by=BY)
            for _ in range(1_000 if SOAK else 150):
                await change(one, rng)
            written = await one.snapshots.back_up("p", "x", folder / "x")
            shutil.copytree(folder / "x", folder / "copy")
            done = await two.snapshots.restore(folder / "copy", "p", by=BY)
            assert (done.is_new, done.has_new_ids, done.damage) == (True, False, ())
            assert (done.nodes, done.entries) == (written.nodes, written.entries)
            before = await looks(one)
            assert await looks(two) == before
            assert await two.check() == ()
            # It is worked with as any other, and goes on to a third.
            for _ in range(30):
                await change(two, rng)
            assert await two.check() == ()
            await two.snapshots.back_up("p", "x", folder / "x")
            done = await two.snapshots.restore(folder / "x", "q", by=BY)
            assert done.has_new_ids and not await differences(two, "p", "q")
            assert await two.check() == ()

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def differences(memory: Memory, project: str, other: str) -> list[str]:
    """The nodes in which other texts are read, by name."""
    read = []
    for one in (project, other):
        tree = await memory.nodes.tree((await memory.nodes.named(one)).id)
        nodes = {it.node.name: it.node.id for it in tree if it.depth}
        texts = {
            name: [it.text for it in await memory.nodes.entries(node_id, limit=1_000)]
            for name, node_id in nodes.items()
        }
        read.append(texts)
    return [name for name in read[0] | read[1] if read[0].get(name) != read[1].get(name)]


async def small(memory: Memory) -> None:
    """A node with a child, an entry that is edited, and one that is inherited and edited."""
    first = await memory.nodes.add(NewNode("p", "x", "first"), NewEntry("a plum"), by=BY)
    child = await memory.nodes.add(NewNode("p", "x", "child", first.id), by=BY)
    (entry,) = await memory.nodes.entries(first.id)
    await memory.nodes.edit(child.id, entry.id, by=BY, text="a fig")
    await memory.nodes.edit(first.id, entry.id, by=BY, text="two plums")


async def test_every_version_travels_with_who_made_it(memory: Memory, tmp_path: Path) -> None:
    await small(memory)
    await memory.snapshots.back_up("p", "x", tmp_path / "x")
    async with opened(tmp_path / "two.db") as two:
        await two.snapshots.restore(tmp_path / "x", "q", by=Actor("user", "bob"))
        events = [it for it in await two.events.list() if it.entity in ("node", "entry")]
    told = [(it.entity_id, it.operation, it.by.name) for it in reversed(events)]
    # The root is the project's own.
    assert told[0][1:] == ("created", "bob")
    assert told[1:] == [
        ("node-2", "created", "ada"),
        ("entry-1", "created", "ada"),
        ("node-3", "created", "ada"),
        ("entry-2", "created", "ada"),
        ("entry-1", "updated", "ada"),
        ("node-2", "restored", "bob"),
        ("node-3", "restored", "bob"),
    ]


async def test_a_restore_into_an_equal_checkpoint_does_nothing_and_into_another_one_is_refused(
    memory: Memory, tmp_path: Path
) -> None:
    await small(memory)
    folder = tmp_path / "x"
    await memory.snapshots.back_up("p", "x", folder)
    last = await memory.events.last()
    done = await memory.snapshots.restore(folder, "p", by=BY)
    assert (done.is_new, done.nodes, done.entries) == (False, 2, 2)
    assert await memory.events.last() == last

    first = await memory.nodes.named("p", "x", "first")
    await memory.nodes.write(first.id, NewEntry("three plums"), by=BY)
    await memory.nodes.add(NewNode("p", "x", "new"), by=BY)
    before = await looks(memory)
    message = "only in the memory: new; not the same: first"
    with pytest.raises(CheckpointDiffers, match=message) as refused:
        await memory.snapshots.restore(folder, "p", by=BY)
    assert "--as NAME" in refused.value.hint
    assert await looks(memory) == before

    other = await memory.snapshots.restore(folder, "p", by=BY, checkpoint="y")
    assert (other.checkpoint, other.is_new, other.has_new_ids) == ("y", True, True)
    assert not (await memory.snapshots.restore(folder, "p", by=BY, checkpoint="y")).is_new
    child = await memory.nodes.named("p", "y", "child")
    (entry,) = await memory.nodes.entries(child.id)
    above = await memory.nodes.named("p", "y", "first")
    (inherited,) = await memory.nodes.entries(above.id)
    assert (entry.text, entry.shadows, inherited.text) == ("a fig", inherited.id, "two plums")
    assert await looks(memory) == before
    with pytest.raises(InvalidEntry):
        await memory.snapshots.restore(folder, "p", by=BY, checkpoint="a/b")


async def test_an_experiment_takes_its_context_and_trace_along(
    memory: Memory, tmp_path: Path
) -> None:
    lab = ExperimentMemory(memory, "p", "x", by=BY, environment={})
    await lab.seed_core_memory(context={"goal": "lower loss"})
    lab._set_current_node("base")
    await lab.add_memory("base", "The loss is flat.", {"loss": 0.5})
    await lab.react_add("step one")
    assert await lab.backup(tmp_path / "x") == {
        "ok": True,
        "file": str(tmp_path / "x" / SNAPSHOT_FILE),
        "nodes": 3,
        "entries": 2,
    }
    said = [await lab.list_all_nodes(), await lab.react_get_all()]
    assert (await lab.purge_checkpoint())["removed"] == 2
    assert await lab.get_experiment_context() == {}
    assert await lab.restore(tmp_path / "x") == {"ok": True, "nodes": 3, "entries": 2, "new": True}
    assert [await lab.list_all_nodes(), await lab.react_get_all()] == said
    assert (await lab.get_experiment_context())["goal"] == "lower loss"
    assert (await lab.restore(tmp_path / "x"))["new"] is False
    await lab.add_memory("base", "another one")
    refused = await lab.restore(tmp_path / "x")
    assert (refused["ok"], "not the same: base" in refused["error"]) == (False, True)
    assert (await lab.backup(Path("/proc/x")))["ok"] is False


async def test_of_a_file_that_is_cut_or_has_another_bit_nothing_is_restored(
    memory: Memory, tmp_path: Path
) -> None:
    await small(memory)
    file = (await memory.snapshots.back_up("p", "x", tmp_path / "x")).file
    data, rng = file.read_bytes(), Random(1)
    async with opened(tmp_path / "two.db") as two:
        for at in range(len(data)):
            flipped = bytearray(data)
            flipped[at] ^= 1 << rng.randrange(8)
            for wrong in (data[:at], bytes(flipped)):
                file.write_bytes(wrong)
                with pytest.raises(
                    (SnapshotDamaged, SnapshotUnreadable, SnapshotEncrypted, SnapshotTooNew)
                ):
                    await two.snapshots.restore(file.parent, "p", by=BY)
        file.write_bytes(data + b"\0")
        with pytest.raises(SnapshotDamaged, match="not as it was written"):
            await two.snapshots.restore(file.parent, "p", by=BY)
        assert await two.snapshots.checkpoints("p") == ()
        assert await two.events.last() == 0
        file.write_bytes(data)
        await two.snapshots.restore(file.parent, "p", by=BY)
        assert await looks(two) == await looks(memory)


async def test_what_is_whole_is_said_and_restored_when_that_is_asked(
    memory: Memory, tmp_path: Path
) -> None:
    await small(memory)
    other = await memory.nodes.add(NewNode("p", "x", "other"), NewEntry("a kiwi"), by=BY)
    file = (await memory.snapshots.back_up("p", "x", tmp_path / "x")).file
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    made = [json.loads(line).get("row", {}).get("name") for line in lines]
    at = made.index("child")
    lines[at] = lines[at].replace(b"child", b"chill")
    file.write_bytes(gzip.compress(b"".join(lines)))

    async with opened(tmp_path / "two.db") as two:
        with pytest.raises(SnapshotDamaged) as refused:
            await two.snapshots.restore(file.parent, "p", by=BY)
        # The child, its version of the plum, and the last line.
        places = [one.line for one in refused.value.damage]
        assert places == [at + 1, at + 2, len(lines)]
        assert "2 nodes with 2 entries" in str(refused.value)
        assert await two.events.last() == 0
        done = await two.snapshots.restore(file.parent, "p", by=BY, what_is_whole=True)
        assert [one.line for one in done.damage] == places
        assert (done.nodes, done.entries) == (2, 2)
        assert [one.text for one in await two.nodes.entries(other.id)] == ["a kiwi"]
        assert await two.check() == ()


async def test_what_contradicts_itself_is_refused(memory: Memory, tmp_path: Path) -> None:
    """Lines with digests that fit, which no checkpoint had."""
    from dcf.memory.snapshots.lines import written
    from dcf.memory.snapshots.version import versions_of

    await small(memory)
    snapshot = await memory.snapshots.back_up("p", "x", tmp_path / "x")
    versions = await memory.ledger.read(lambda connection: versions_of(connection, "p", "x"))
    first, entry, child, *_ = versions

    def forged(version: Any, **columns: object) -> Any:
        return replace(version, row={**version.row, **columns})

    async with opened(tmp_path / "two.db") as two:
        for wrong, problem in (
            ([first, forged(child, name="first")], SnapshotUnreadable),
            ([forged(first, parent=child.id), child], SnapshotDamaged),
            ([entry], SnapshotDamaged),
            ([forged(first, id="a/b")], SnapshotDamaged),
            ([forged(first, created_at=1 << 60)], SnapshotDamaged),
            ([forged(first, name="")], InvalidEntry),
            ([forged(first, score=10**400)], InvalidEntry),
            ([first, forged(entry, kind="No kind")], InvalidEntry),
        ):
            counts = {"nodes": 1, "entries": 1, "versions": len(wrong)}
            snapshot.file.write_bytes(written(replace(snapshot, **counts), wrong))
            with pytest.raises(problem):
                await two.snapshots.restore(tmp_path / "x", "p", by=BY)
        # An entry in another node: its text would be found in the one that it was in before.
        moved = [first, entry, child, forged(entry, node_id=child.id, text="moved")]
        counts = {"nodes": 2, "entries": 1, "versions": 4}
        snapshot.file.write_bytes(written(replace(snapshot, **counts), moved))
        with pytest.raises(SnapshotUnreadable, match="moves the entry"):
            await two.snapshots.restore(tmp_path / "x", "p", by=BY)
        assert await two.events.last() == 0


async def test_vectors_are_made_by_the_model_that_the_memory_has(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    async with opened(tmp_path / "one.db") as one:
        first = await one.nodes.add(NewNode("p", "x", "first"), by=BY)
        await one.nodes.write(first.id, NewEntry("The physician examined a child."), by=BY)
        (hit,) = await one.search.find("doctor", node=first.id)
        assert hit.similarity is not None
        written = await one.snapshots.back_up("p", "x", folder)
        assert written.embedder is not None and written.embedder.startswith("wordllama")
    async with opened(tmp_path / "two.db", embedder="none") as two:
        await two.snapshots.restore(folder, "p", by=BY)
        assert await two.search.find("doctor", node=first.id) == ()
        assert len(await two.search.find("physician", node=first.id)) == 1
        assert (await two.snapshots.back_up("p", "x", folder)).embedder is None
    async with opened(tmp_path / "three.db") as three:
        await three.snapshots.restore(folder, "p", by=BY)
        (again,) = await three.search.find("doctor", node=first.id)
        assert again.similarity == hit.similarity


async def test_what_is_no_snapshot_is_told_from_one(memory: Memory, tmp_path: Path) -> None:
    for content, problem, message in (
        (None, SnapshotMissing, "There is no snapshot"),
        (b"", SnapshotEncrypted, "encrypted, or no snapshot"),
        (gzip.compress(b"{}\n"), SnapshotUnreadable, "line 1"),
        (gzip.compress(b""), SnapshotUnreadable, "line 1"),
    ):
        if content is not None:
            (tmp_path / SNAPSHOT_FILE).write_bytes(content)
        with pytest.raises(problem, match=message):
            await memory.snapshots.restore(tmp_path, "p", by=BY)
    with pytest.raises(UnknownCheckpoint):
        await memory.snapshots.back_up("p", "x", tmp_path / "y")
    assert not (tmp_path / "y").exists()
    await small(memory)
    with pytest.raises(UnknownCheckpoint, match="It has: x"):
        await memory.snapshots.back_up("p", "z", tmp_path / "y")


async def test_who_writes_later_has_looked_later(memory: Memory, tmp_path: Path) -> None:
    """Two processes end nodes at the same moment: what stays has both."""
    await small(memory)
    folder = tmp_path / "x"
    folder.mkdir()
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    waiting = asyncio.create_task(memory.snapshots.back_up("p", "x", folder))
    await asyncio.sleep(0.1)
    await memory.nodes.add(NewNode("p", "x", "late"), by=BY)
    assert not waiting.done()
    os.close(descriptor)
    assert (await waiting).nodes == 3


async def test_a_stopped_writer_is_waited_for_three_seconds_and_named(
    memory: Memory, tmp_path: Path
) -> None:
    await small(memory)
    folder, time = tmp_path / "x", [0.0]
    folder.mkdir()

    async def sleep(seconds: float) -> None:
        time[0] += seconds

    snapshots = Snapshots(memory.ledger, memory.access, clock=lambda: time[0], sleep=sleep)
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(SnapshotBusy, match=f"by process {os.getpid()}; nothing") as refused:
            await snapshots.back_up("p", "x", folder)
    finally:
        os.close(descriptor)
    assert time[0] == pytest.approx(3, abs=0.1)
    assert "stopped" in refused.value.hint
    assert (await snapshots.back_up("p", "x", folder)).nodes == 2


async def put(memory: Memory, folder: Path) -> None:
    """What ``memory`` has, as if its folder had been copied here."""
    shutil.rmtree(folder, ignore_errors=True)
    await memory.snapshots.back_up("p", "x", folder)


async def test_a_snapshot_of_what_a_memory_never_had_is_spared(tmp_path: Path) -> None:
    folder, other = tmp_path / "x", tmp_path / "other"
    async with opened(tmp_path / "one.db") as one, opened(tmp_path / "two.db") as two:

        async def own() -> None:
            await one.snapshots.back_up("p", "x", folder)

        async def spared() -> None:
            before = (other / SNAPSHOT_FILE).read_bytes()
            shutil.copytree(other, folder, dirs_exist_ok=True)
            with pytest.raises(SnapshotDiverged, match="'x' of the project 'p' in a state"):
                await own()
            assert (folder / SNAPSHOT_FILE).read_bytes() == before

        await small(one)
        gone = await one.nodes.add(NewNode("p", "x", "gone"), NewEntry("a pear"), by=BY)
        await own()
        await two.snapshots.restore(folder, "p", by=BY)
        first = await two.nodes.named("p", "x", "first")
        entry, *_ = await two.nodes.entries(first.id)

        # What it had before: the other one wrote the file, and this one went on.
        await put(two, folder)
        await one.nodes.move((await one.nodes.named("p", "x", "child")).id, gone.id, by=BY)
        await own()
        await put(two, folder)
        await one.collect_garbage(Retention(most_events=1, least_events=0, events_ms=0), by=BY)
        await own()
        await put(two, folder)
        await one.nodes.remove(gone.id, by=BY)
        await one.nodes.change(first.id, by=BY, score=0.5)
        await own()

        # What it never had: another text, one node less, one more, one of another memory.
        await two.nodes.edit(first.id, entry.id, by=BY, text="three plums")
        await put(two, other)
        await spared()
        async with opened(tmp_path / "three.db") as three:
            await small(three)
            await put(three, other)
            await spared()
        await put(one, folder)
        async with opened(tmp_path / "four.db") as four:
            await four.snapshots.restore(folder, "p", by=BY)
            await four.nodes.add(NewNode("p", "x", "new"), by=BY)
            await put(four, other)
            await spared()

        # Of another project with the same node.
        await put(one, folder)
        await one.nodes.add(NewNode("q", "x", "first"), by=BY)
        with pytest.raises(SnapshotDiverged):
            await one.snapshots.back_up("q", "x", folder)


async def test_one_node_less_is_no_earlier_state(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    async with opened(tmp_path / "one.db") as one, opened(tmp_path / "two.db") as two:
        await one.nodes.add(NewNode("p", "x", "first"), by=BY)
        await one.nodes.add(NewNode("p", "x", "second"), by=BY)
        await one.snapshots.back_up("p", "x", folder)
        await two.snapshots.restore(folder, "p", by=BY)
        await two.nodes.remove((await two.nodes.named("p", "x", "first")).id, by=BY)
        await put(two, folder)
        with pytest.raises(SnapshotDiverged):
            await one.snapshots.back_up("p", "x", folder)


async def test_ids_of_another_memory_are_no_difference(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    async with opened(tmp_path / "one.db") as one:
        await small(one)
        await one.snapshots.back_up("p", "x", folder)
        assert (await one.snapshots.restore(folder, "q", by=BY)).has_new_ids
        assert (await one.snapshots.back_up("q", "x", folder)).nodes == 2


@pytest.mark.timeout(600)
@campaign(20)
def test_whatever_was_done_since_what_it_had_is_its_own(share: int) -> None:
    async def run(folder: Path) -> None:
        rng = Random(share)
        async with opened(folder / "one.db", embedder="none") as one:
            await one.nodes.add(NewNode("p", "x", "first"), by=BY)
            for turn in range(12):
                for _ in range(rng.randrange(8)):
                    await change(one, rng)
                await one.snapshots.back_up("p", "x", folder / f"x{turn}")
            for turn in range(12):
                await one.snapshots.back_up("p", "x", folder / f"x{turn}")
                copy = Snapshots(one.ledger, one.access)
                await copy.back_up("p", "x", folder / f"x{turn}")

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def test_a_file_that_could_not_be_read_is_not_written(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await small(memory)
    file = (await memory.snapshots.back_up("p", "x", tmp_path / "x")).file
    data = file.read_bytes()
    monkeypatch.setattr("dcf.memory.snapshots.sealed.LARGEST", 100)
    with pytest.raises(SnapshotUnreadable, match="line 1"):
        await memory.snapshots.restore(tmp_path / "x", "q", by=BY)
    monkeypatch.setattr("dcf.memory.snapshots.keeping.LARGEST", 1_000)
    with pytest.raises(SnapshotTooLarge, match="more than the 500 "):
        await memory.snapshots.back_up("p", "x", tmp_path / "x")
    assert file.read_bytes() == data


async def test_what_is_left_of_a_history_travels(memory: Memory, tmp_path: Path) -> None:
    await small(memory)
    before = await looks(memory)
    await memory.collect_garbage(Retention(most_events=1, least_events=0, events_ms=0), by=BY)
    await memory.snapshots.back_up("p", "x", tmp_path / "x")
    async with opened(tmp_path / "two.db") as two:
        await two.snapshots.restore(tmp_path / "x", "p", by=BY)
        assert (await looks(two))["nodes"] == before["nodes"]
        assert await two.check() == ()


async def test_the_snapshot_of_an_encrypted_memory_is_encrypted(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    async with opened(tmp_path / "clear.db") as clear:
        await small(clear)
        await clear.snapshots.back_up("p", "x", folder)
    async with opened(tmp_path / "one.db", key=KEY) as one:
        await one.snapshots.restore(folder, "p", by=BY)
        assert (await one.snapshots.back_up("p", "x", folder)).encrypted
        before = await looks(one)
    # In place of the plain one, and nothing beside it.
    (file,) = folder.iterdir()
    data = file.read_bytes()
    assert not data.startswith((b"\x1f\x8b", b"SQLite")) and b"plum" not in data
    async with opened(tmp_path / "two.db", key=KEY) as two:
        await two.snapshots.restore(folder, "p", by=BY)
        assert await looks(two) == before
    async with opened(tmp_path / "three.db", key=KEY.replace("a", "b")) as three:
        with pytest.raises(MemoryKey):
            await three.snapshots.restore(folder, "p", by=BY)
    async with opened(tmp_path / "four.db") as four:
        with pytest.raises(SnapshotEncrypted):
            await four.snapshots.restore(folder, "p", by=BY)
    async with opened(tmp_path / "five.db", key=KEY) as five:
        shutil.copy(tmp_path / "one.db", file)
        with pytest.raises(SnapshotUnreadable):
            await five.snapshots.restore(folder, "p", by=BY)
        rng = Random(2)
        for at in [*range(0, len(data), len(data) // 2), len(data) - 1]:
            flipped = bytearray(data)
            flipped[at] ^= 1 << rng.randrange(8)
            for wrong in (data[:at], bytes(flipped)):
                file.write_bytes(wrong)
                with pytest.raises((SnapshotDamaged, SnapshotUnreadable, MemoryKey)):
                    await five.snapshots.restore(folder, "p", by=BY)
        assert await five.events.last() == 0


async def test_of_an_encrypted_file_that_was_cut_what_stands_before_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rng = tmp_path / "x", Random(3)
    # Nine rows of pieces, so that there are several tables.
    monkeypatch.setattr(keeping, "_ROWS", 2)
    async with opened(tmp_path / "one.db", key=KEY) as one:
        for number in range(9):
            text = rng.randbytes(1_500).hex()
            await one.nodes.add(NewNode("p", "x", f"n{number}"), NewEntry(text), by=BY)
        file = (await one.snapshots.back_up("p", "x", folder)).file
        before = await looks(one)
    data, source = file.read_bytes(), Source(file, key=KEY)
    with closing(source.connect()) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        rows = [
            (row[0],)
            for table in tables
            for row in connection.execute(f"SELECT data FROM {table} ORDER BY number")
        ]
    assert len(tables) > 2
    offered = []
    for part in (0.95, 0.5):
        file.write_bytes(data[: int(len(data) * part)])
        async with opened(tmp_path / f"{part}.db", key=KEY) as other:
            with pytest.raises(SnapshotDamaged, match="the file ends here"):
                await other.snapshots.restore(folder, "p", by=BY)
            done = await other.snapshots.restore(folder, "p", by=BY, what_is_whole=True)
            offered.append(done.nodes)
            assert len(await other.nodes.entries((await other.nodes.named("p")).id)) == 0
            assert await other.check() == ()
    assert 9 > offered[0] > offered[1] > 0

    # As files were written before: all pieces in one table.
    file.unlink()
    with closing(source.connect()) as connection:
        connection.execute("CREATE TABLE pieces (number INTEGER PRIMARY KEY, data BLOB NOT NULL)")
        connection.executemany("INSERT INTO pieces (data) VALUES (?)", rows)
    async with opened(tmp_path / "old.db", key=KEY) as old:
        await old.snapshots.restore(folder, "p", by=BY)
        assert await looks(old) == before


async def test_a_line_that_no_snapshot_has_is_not_read(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await small(memory)
    file = (await memory.snapshots.back_up("p", "x", tmp_path / "x")).file
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    monkeypatch.setattr(sealed, "LONGEST", 100_000)
    # Longer, packed, than what is unpacked at once.
    long = Random(4).randbytes(200_000).hex().encode() + b"\n"
    for at, problem in ((0, SnapshotUnreadable), (2, SnapshotDamaged)):
        wrong = [*lines[:at], long, *lines[at:]]
        file.write_bytes(gzip.compress(b"".join(wrong)))
        async with opened(tmp_path / "two.db") as two:
            with pytest.raises(problem, match=f"(?s)line {at + 1}.*more than 100,000 bytes"):
                await two.snapshots.restore(file.parent, "p", by=BY)
    monkeypatch.setattr(lines_of, "LONGEST", 100)
    with pytest.raises(SnapshotTooLarge):
        await memory.snapshots.back_up("p", "x", tmp_path / "y")


_WORK = """
import asyncio, sys, time
from pathlib import Path
from dcf.memory import Actor, Memory, Source, random_id

async def main(file, folder, what):
    source = Source(Path(file))
    clock = lambda: time.time_ns() // 1_000_000
    async with Memory.open(source, clock=clock, new_id=random_id, embedder="none") as memory:
        print("ready", flush=True)
        number = 0
        while True:
            if what == "back_up":
                await memory.snapshots.back_up("p", "x", Path(folder))
            else:
                number += 1
                by = Actor("user", "ada")
                await memory.snapshots.restore(Path(folder), f"p{number}", by=by)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("what", ["back_up", "restore"])
async def test_who_is_killed_leaves_all_or_nothing(what: str, tmp_path: Path) -> None:
    folder, rng = tmp_path / "x", Random(3)
    async with opened(tmp_path / "one.db") as one:
        first = await one.nodes.add(NewNode("p", "x", "first"), by=BY)
        await one.nodes.write(first.id, *(NewEntry(f"plum {n}") for n in range(300)), by=BY)
        await one.snapshots.back_up("p", "x", folder)
    for turn in range(8 if SOAK else 2):
        file = tmp_path / ("one.db" if what == "back_up" else f"two{turn}.db")
        process = started(_WORK, file, folder, what)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        await asyncio.sleep(rng.uniform(0.01, 0.15))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        async with Memory.open(
            Source(file), clock=Ticking(), new_id=random_id, embedder="none"
        ) as memory:
            assert await memory.check() == ()
            done = await memory.snapshots.restore(folder, "p", by=BY)
            assert (done.nodes, done.entries, done.damage) == (1, 300, ())
            await memory.snapshots.back_up("p", "x", folder)
            assert [one.name for one in folder.iterdir()] == [SNAPSHOT_FILE]
            tried = 0
            while await memory.snapshots.checkpoints(f"p{tried + 1}"):
                tried += 1
                assert not (await memory.snapshots.restore(folder, f"p{tried}", by=BY)).is_new
