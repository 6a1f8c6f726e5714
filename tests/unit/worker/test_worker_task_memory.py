"""What a Task keeps of its result in its node."""

from __future__ import annotations

from pathlib import Path

from memory_world import Numbered, Ticking

from dcf.memory import Memory, NodeStep, Source
from dcf.worker.node_place import NodePlace
from dcf.worker.task_memory import TaskMemory

PLACE = NodePlace("r1", (NodeStep("run", "b", "run"), NodeStep("Fan[0]", "1", "iteration")))


async def test_a_result_is_kept_once_with_its_score(tmp_path: Path) -> None:
    source = Source(tmp_path / "memory.db")
    async with Memory.open(source, clock=Ticking(), new_id=Numbered(), embedder="none") as memory:
        work = TaskMemory(memory, "/lab", PLACE)

        for points in (3, 4):  # the second after a kill before the first was committed
            await work.keep_result("It holds.\nFor now.", points, "Look@1")
        await work.keep_result("It holds.\nFor now.", None, "Look@2")

        node = await work.node()
        entries = await memory.nodes.entries(node.id)
    assert (node.name, node.score, node.title) == ("Fan[0]", 4, "It holds.")
    assert [(one.text, one.kind) for one in entries] == [("It holds.\nFor now.", "result")] * 2
