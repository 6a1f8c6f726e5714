"""What an agent that does a Task is told of earlier runs, and of what its branch found."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from control_plane import Store
from dcf.context_form import FILE_KINDS, KINDS, Kind
from dcf.memory import SYSTEM, ContextSetting, Memory, MemoryProblem, Node, Pack
from dcf.worker.run_bundles import RunBundle, RunBundles
from dcf.worker.task_memory import TaskMemory, task_memory

if TYPE_CHECKING:
    from dcf.skills import Manifest
    from dcf.workflow import Task

log = logging.getLogger(__name__)


def context_event(pack: Pack) -> dict[str, Any]:
    """What the history says of a context that an agent was given."""
    return {
        "type": "ContextGiven",
        "tokens": pack.tokens,
        "observations": [one.offer.uri for one in pack.items],
        "left_out": pack.left_out,
    }


@dataclass(frozen=True, slots=True)
class RunContexts:
    """Contexts of Tasks from the observations in ``memory``, those of the same ``project`` and the
    same workflow and no others, and from what the node of the Task reads. The workflow of a
    session's task is its type."""

    memory: Memory
    setting: ContextSetting
    project: str
    bundles: RunBundles | None = None

    async def memory_of(self, store: Store, task: Task) -> TaskMemory | None:
        """The memory of a Task; None where its workflow says that it has none."""
        return await task_memory(store, self.memory, self.project, task)

    async def bundle(
        self, task: Task, skills: Sequence[Manifest], memory: TaskMemory | None
    ) -> RunBundle | None:
        """What a Task is told that asks for a context; None where it asks for none. Observations
        are among it where they are told at all."""
        if self.bundles is None or task.state.context is None:
            return None
        without: set[Kind] = set()
        if memory is None:
            without = set(KINDS) - set(FILE_KINDS)
        elif self.setting.mode == "off":
            without = {"observation"}
        return await self.bundles.of(task, task.state.context, skills, without)

    async def of(
        self, task: Task, memory: TaskMemory, node: Node | None, told: Collection[str] = ()
    ) -> Pack | None:
        """The context of a Task whose ``memory`` begins with ``node``; None without anything to
        tell. Observations with the ids ``told`` it is told already. What keeps the memory from
        being read keeps no Task from its work."""
        try:
            pack = await self.memory.contexts.of_work(
                self.project,
                task.run.name,
                self.setting,
                state=task.lease.path,
                node=None if node is None else node.id,
                branches=[one.id for one in await memory.gathered(node)],
                by=SYSTEM.because(f"the context of {task.lease.path}"),
                without=told,
            )
        except MemoryProblem as problem:
            log.warning("%s is done without a context: %s", task.lease.path, problem)
            return None
        return pack if pack.items else None
