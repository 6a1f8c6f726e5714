"""What runs remember, as whoever removes them sees it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from control_plane import RunDocument
from dcf.knowledge import SESSION_PIN
from dcf.memory import Actor, Memory, TreeNode, UnknownNode
from dcf.worker.node_place import step_of_run


@dataclass(slots=True)
class RunMemory:
    """The nodes of runs in a ``project``. ``nodes`` and ``entries`` count what was forgotten."""

    memory: Memory
    project: str
    by: Actor
    nodes: int = 0
    entries: int = 0

    async def tree(self, run: RunDocument) -> tuple[TreeNode, ...]:
        """The node of a run with all below it; empty where there is none. Another run that had its
        id has others."""
        session = run.raw.get("pins", {}).get(SESSION_PIN)
        checkpoint, step = step_of_run(run.workflow_id, run.born, session)
        node = await self.memory.nodes.made(self.project, checkpoint, step)
        if node is not None:
            # Somebody may prune it meanwhile.
            with suppress(UnknownNode):
                return await self.memory.nodes.tree(node.id, by=self.by)
        return ()

    async def forget(self, run: RunDocument) -> None:
        """Remove the nodes of a run; the history of the memory has them. Raises a MemoryProblem."""
        tree = await self.tree(run)
        if tree:
            with suppress(UnknownNode):
                self.nodes += await self.memory.nodes.remove(tree[0].node.id, by=self.by)
                self.entries += sum(one.entries for one in tree)
