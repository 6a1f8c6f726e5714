"""Snapshots of runs: after each Task the folder has what the memory has, and before the first the
memory has what the folder has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from memory_world import Ticking
from unit.worker.test_worker_performer import a_task, silent

from dcf.memory import SNAPSHOT_FILE, Actor, Memory, NewEntry, NewNode, Source, random_id
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
    # Who has a checkpoint goes on with that, and the folder has what was written last.
    third = RunSnapshots(Writer(one, "C", Succeeded(1)), one, "p", folder)
    await third.perform(a_task(), silent)
    assert await names(one) == {"A", "C"}
    restored = await two.snapshots.restore(folder / "run", "p", by=BY, checkpoint="again")
    assert restored.nodes == 2


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
