"""What a run remembers, in a folder that can be copied: written at the end of each Task, and read
where the memory has nothing of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

from dcf.knowledge import SESSION_PIN
from dcf.memory import (
    SYSTEM,
    CheckpointDiffers,
    Memory,
    MemoryProblem,
    SnapshotMissing,
    UnknownCheckpoint,
)
from dcf.worker.performer import AgentPerformer, Beat
from dcf.workflow import Outcome, Task

log = logging.getLogger(__name__)

FOLDERS = "DCF_CHECKPOINTS"
"""The variable that names the folder in which each checkpoint has one."""
_BY = SYSTEM.because("resumed from the folder of its checkpoint")


def with_snapshots(
    performer: AgentPerformer, memory: Memory | None, project: str, env: Mapping[str, str]
) -> AgentPerformer:
    """The same performer, which keeps snapshots where the environment names a folder for them."""
    folder = env.get(FOLDERS)
    if memory is None or not folder:
        return performer
    return RunSnapshots(performer, memory, project, Path(folder).absolute())


class RunSnapshots:
    """Performs Tasks by ``performer``. Before the first of a run its checkpoint is restored from
    its folder below ``folder``, if the memory has none; after each the folder has what the memory
    has. Checkpoints are called as their run, or the session that it was delegated in. What keeps
    a snapshot from being read or written keeps no Task from its work; one that could not be read is
    not written over."""

    def __init__(
        self, performer: AgentPerformer, memory: Memory, project: str, folder: Path
    ) -> None:
        self._performer = performer
        self._memory, self._project, self._folder = memory, project, folder
        self._is_kept: dict[str, bool] = {}
        """Whether the checkpoints that this process met are written."""

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        checkpoint = task.run.pins.get(SESSION_PIN) or task.run.workflow_id
        if checkpoint not in self._is_kept:
            self._is_kept[checkpoint] = await self._begin(checkpoint)
        outcome = await self._performer.perform(task, beat)
        if self._is_kept[checkpoint]:
            await self._keep(checkpoint)
        return outcome

    async def _begin(self, checkpoint: str) -> bool:
        """Restore what the memory lacks; False where there is something that cannot be read."""
        try:
            if checkpoint not in await self._memory.snapshots.checkpoints(self._project):
                done = await self._memory.snapshots.restore(
                    self._folder / checkpoint, self._project, by=_BY, checkpoint=checkpoint
                )
                log.info("%s: restored %d nodes of the memory", checkpoint, done.nodes)
        except SnapshotMissing:
            pass
        except CheckpointDiffers:
            log.debug("%s was restored by another worker at the same moment", checkpoint)
        except MemoryProblem as problem:
            log.warning("%s is done without its snapshot, which stays: %s", checkpoint, problem)
            return False
        return True

    async def _keep(self, checkpoint: str) -> None:
        try:
            await self._memory.snapshots.back_up(
                self._project, checkpoint, self._folder / checkpoint
            )
        except UnknownCheckpoint:
            log.debug("%s has nothing in the memory", checkpoint)
        except MemoryProblem as problem:
            log.warning("no snapshot of %s was written: %s", checkpoint, problem)
