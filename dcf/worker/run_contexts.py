"""What an agent that does a Task is told of earlier runs, and of what its branch found."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from control_plane import Store
from dcf.context_form import FILE_KINDS, KINDS, Kind
from dcf.memory import (
    SYSTEM,
    ContextSetting,
    Memory,
    MemoryProblem,
    Node,
    Origin,
    Pack,
    PlaybookMatch,
    PlaybookOffer,
)
from dcf.worker.run_bundles import RunBundle, RunBundles
from dcf.worker.task_memory import TaskMemory, task_memory

if TYPE_CHECKING:
    from dcf.skills import Manifest
    from dcf.workflow import Task

log = logging.getLogger(__name__)

_PLAYBOOKS = 3
"""So many are told."""
_COUNTING = SYSTEM.because("a try that was told a playbook is over")


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
            # What a Task is told that is tried again is what happened to itself.
            state = task.state.name if task.lease.try_ > 1 else None
            errors = await memory.failures(node, state)
            pack = await self.memory.contexts.of_work(
                self.project,
                task.run.name,
                self.setting,
                state=task.lease.path,
                node=None if node is None else node.id,
                branches=[one.id for one in await memory.gathered(node)],
                playbooks=await self._playbooks(errors),
                by=SYSTEM.because(f"the context of {task.lease.path}"),
                without=told,
            )
        except MemoryProblem as problem:
            log.warning("%s is done without a context: %s", task.lease.path, problem)
            return None
        return pack if pack.items else None

    async def count(self, told: Pack, task: Task, failure: str | None = None) -> None:
        """Count for each playbook that a try again was ``told`` that it helped, where the try
        succeeded; that it did not, where it ended with a ``failure`` that the playbook fits as
        well. Once for each of the two in the state of a run, however often the work is done."""
        ids = [one.offer.playbook_id for one in told.items if isinstance(one.offer, PlaybookOffer)]
        # Another Task that comes after a failure may as well clear up what was given up.
        if not ids or task.lease.try_ == 1:
            return
        run = str(Origin("run", task.lease.workflow_id, state=task.lease.path).citation)
        try:
            if failure is not None:
                fit = {one.playbook.id for one in await self._playbooks([failure])}
                ids = [one for one in ids if one in fit]
            for one in ids:
                await self.memory.playbooks.count(
                    one, helped=failure is None, used_by=run, by=_COUNTING
                )
        except MemoryProblem as problem:
            log.warning("uses of playbooks by %s are not counted: %s", run, problem)

    async def _playbooks(self, errors: Sequence[str]) -> list[PlaybookMatch]:
        """The playbooks that fit one of ``errors``, the last one first."""
        found: dict[str, PlaybookMatch] = {}
        for error in errors:
            for one in await self.memory.playbooks.match(self.project, error, limit=_PLAYBOOKS):
                found.setdefault(one.playbook.id, one)
        return list(found.values())[:_PLAYBOOKS]
