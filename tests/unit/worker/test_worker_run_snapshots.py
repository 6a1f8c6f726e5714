"""Snapshots of runs: after each Task the folder has what the memory has, and before the first the
memory has what the folder has."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memory_world import Ticking
from unit.worker.test_worker_performer import a_task, silent

from dcf.memory import (
    SNAPSHOT_FILE,
    Actor,
    Memory,
    NewEntry,
    NewNode,
    Snapshots,
    Source,
    random_id,
)
from dcf.worker.run_snapshots import RunSnapshots, with_snapshots
from dcf.workflow import Failed, Succeeded

BY = Actor("user", "ada")


class Writer:
    """Writes into the node ``run/NAME`` and gives ``outcome``."""

    def __init__(self, memory: Memory, name: str, outcome: Any) -> None:
        self.memory, self.name, self.outcome = memory, name, outcome

    async def perform(self, _task: Any, _beat: Any) -> Any:
        await self.memory.nodes.add(NewNode("p", "run", self.name), NewEntry("a plum"), by=BY)
        return self.outcome


@pytest.fixture
async def memories(tmp_path: Path) -> AsyncIterator[list[Memory]]:
    def opened(name: str) -> Any:
        source = Source(tmp_path / name)
        return Memory.open(source, clock=Ticking(), new_id=random_id, embedder="none")

    async with opened("one.db") as one, opened("two.db") as two:
        yield [one, two]


async def names(memory: Memory) -> set[str]:
    root = await memory.nodes.named("p")
    return {one.node.name for one in await memory.nodes.tree(root.id) if one.depth}


async def test_a_task_leaves_a_snapshot_with_which_another_memory_goes_on(
    memories: list[Memory], tmp_path: Path
) -> None:
    one, two = memories
    folder = tmp_path / "kept"
    failed = Failed("Shop.Closed", "night")
    done = await RunSnapshots(Writer(one, "A", failed), one, "p", folder).perform(a_task(), silent)
    assert done == failed
    assert (folder / "run" / SNAPSHOT_FILE).is_file()

    other = RunSnapshots(Writer(two, "B", Succeeded(1)), two, "p", folder)
    assert await other.perform(a_task(), silent) == Succeeded(1)
    assert await names(two) == {"A", "B"}
    restored = await two.snapshots.restore(folder / "run", "p", by=BY, checkpoint="again")
    assert restored.nodes == 2


async def test_what_another_memory_wrote_is_reported_once_and_not_written_over(
    memories: list[Memory], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = memories
    await RunSnapshots(Writer(one, "A", Succeeded(1)), one, "p", tmp_path).perform(a_task(), silent)
    file = tmp_path / "run" / SNAPSHOT_FILE
    theirs = file.read_bytes()
    await two.nodes.add(NewNode("q", "run", "B"), by=BY)
    writer = Writer(two, "C", Succeeded(1))
    performer = RunSnapshots(writer, two, "q", tmp_path)
    for name in "CDE":
        writer.name = name
        assert await performer.perform(a_task(), silent) == Succeeded(1)
    assert file.read_bytes() == theirs
    (said,) = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    for part in (str(file), "'run' of the project 'p'", "'run' of 'q'", "scope restore", "--as"):
        assert part in said


async def test_tasks_that_end_together_share_a_snapshot(
    memories: list[Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, written = memories[0], 0
    real = Snapshots.back_up

    async def counting(*given: Any, **named: Any) -> Any:
        nonlocal written
        written += 1
        return await real(*given, **named)

    monkeypatch.setattr(Snapshots, "back_up", counting)
    performers = [Writer(memory, f"N{number}", Succeeded(1)) for number in range(12)]

    class Each:
        async def perform(self, task: Any, beat: Any) -> Any:
            return await performers.pop().perform(task, beat)

    snapshots = RunSnapshots(Each(), memory, "p", tmp_path)  # type: ignore[arg-type]
    await asyncio.gather(*(snapshots.perform(a_task(), silent) for _ in range(12)))
    assert written < 12
    done = await memories[1].snapshots.restore(tmp_path / "run", "p", by=BY)
    assert done.nodes == 12


async def test_a_task_that_is_cancelled_while_it_waits_leaves_the_next_its_turn(
    memories: list[Memory], tmp_path: Path
) -> None:
    memory, folder = memories[0], tmp_path / "run"
    folder.mkdir()
    writer = Writer(memory, "A", Succeeded(1))
    snapshots = RunSnapshots(writer, memory, "p", tmp_path)
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    tasks = []
    for name in "AB":
        writer.name = name
        tasks.append(asyncio.create_task(snapshots.perform(a_task(), silent)))
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    os.close(descriptor)
    writer.name = "C"
    await snapshots.perform(a_task(), silent)
    assert (await memories[1].snapshots.restore(folder, "p", by=BY)).nodes == 3


async def test_a_process_forgets_checkpoints_that_it_met_long_ago(
    memories: list[Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dcf.worker.run_snapshots.MOST_MET", 2)

    class Idle:
        async def perform(self, _task: Any, _beat: Any) -> Any:
            return Succeeded(1)

    snapshots = RunSnapshots(Idle(), memories[0], "p", tmp_path)
    for name in "abcab":
        task = a_task()
        await snapshots.perform(replace(task, run=replace(task.run, workflow_id=name)), silent)
    assert list(snapshots._met) == ["a", "b"]


async def test_what_cannot_be_read_stays_as_it_is_and_keeps_no_task_from_its_work(
    memories: list[Memory], tmp_path: Path
) -> None:
    memory = memories[0]
    file = tmp_path / "run" / SNAPSHOT_FILE
    file.parent.mkdir()
    file.write_bytes(b"broken")
    performer = RunSnapshots(Writer(memory, "A", Succeeded(1)), memory, "p", tmp_path)
    assert await performer.perform(a_task(), silent) == Succeeded(1)
    assert file.read_bytes() == b"broken"
    await memory.nodes.remove((await memory.nodes.named("p", "run", "A")).id, by=BY)

    (tmp_path / "full").write_text("no folder")
    unwritable = RunSnapshots(
        Writer(memory, "A", Succeeded(1)), memory, "p", tmp_path / "full" / "x"
    )
    assert await unwritable.perform(a_task(), silent) == Succeeded(1)


async def test_snapshots_are_kept_where_a_folder_is_named(
    memories: list[Memory], tmp_path: Path
) -> None:
    agents: Any = Writer(memories[0], "A", Succeeded(1))
    assert with_snapshots(agents, memories[0], "p", {}) is agents
    assert with_snapshots(agents, None, "p", {"DCF_CHECKPOINTS": "x"}) is agents
    kept = with_snapshots(agents, memories[0], "p", {"DCF_CHECKPOINTS": str(tmp_path / "k")})
    await kept.perform(a_task(), silent)
    assert (tmp_path / "k" / "run" / SNAPSHOT_FILE).is_file()
