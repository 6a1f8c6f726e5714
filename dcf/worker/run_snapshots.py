"""What a run remembers, in a folder that can be copied: written at the end of each Task, and read
where the memory has nothing of it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dcf.knowledge import SESSION_PIN
from dcf.memory import (
    SYSTEM,
    CheckpointDiffers,
    Memory,
    MemoryKey,
    MemoryProblem,
    SnapshotDamaged,
    SnapshotDiverged,
    SnapshotEncrypted,
    SnapshotMissing,
    SnapshotTooNew,
    SnapshotUnreadable,
    UnknownCheckpoint,
)
from dcf.worker.performer import AgentPerformer, Beat
from dcf.workflow import Outcome, Task

log = logging.getLogger(__name__)

FOLDERS = "DCF_CHECKPOINTS"
"""The variable that names the folder in which each checkpoint has one."""
MOST_MET = 1_000
"""Checkpoints of which a process knows that it restored them, and that their file stays."""
_STAYS = (
    SnapshotDiverged,
    SnapshotDamaged,
    SnapshotEncrypted,
    SnapshotTooNew,
    SnapshotUnreadable,
    MemoryKey,
)
_BY = SYSTEM.because("resumed from the folder of its checkpoint")


def with_snapshots(
    performer: AgentPerformer, memory: Memory | None, project: str, env: Mapping[str, str]
) -> AgentPerformer:
    """The same performer, which keeps snapshots where the environment names a folder for them."""
    folder = env.get(FOLDERS)
    if memory is None or not folder:
        return performer
    return RunSnapshots(performer, memory, project, Path(folder).absolute())


@dataclass(slots=True)
class _Checkpoint:
    """One that this process works in. Unless it ``is_kept`` no more snapshots of it are written
    here. One is written after the other, in ``turn``; while one ``is_awaited`` it will have all
    that the memory has now."""

    is_kept: bool
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_awaited: bool = False

    @asynccontextmanager
    async def next_turn(self) -> AsyncIterator[None]:
        """Nobody else of this process writes it."""
        self.is_awaited = True
        try:
            await self.turn.acquire()
        finally:
            self.is_awaited = False
        try:
            yield
        finally:
            self.turn.release()


class RunSnapshots:
    """Performs Tasks by ``performer``. Before the first of a run its checkpoint is restored from
    its folder below ``folder``, if the memory has none; after each the folder has what the memory
    has, or the next snapshot is about to be written by another Task that waits for it. Checkpoints
    are called as their run, or the session that it was delegated in. What keeps a snapshot from
    being read or written keeps no Task from its work. One that cannot be read, or that this memory
    cannot have written, is reported once and not written over."""

    def __init__(
        self, performer: AgentPerformer, memory: Memory, project: str, folder: Path
    ) -> None:
        self._performer = performer
        self._memory, self._project, self._folder = memory, project, folder
        self._met: OrderedDict[str, _Checkpoint] = OrderedDict()
        """The checkpoints that this process worked in last."""

    async def perform(self, task: Task, beat: Beat) -> Outcome:
        """The outcome of ``task``."""
        name = task.run.pins.get(SESSION_PIN) or task.run.workflow_id
        checkpoint = self._met.get(name)
        if checkpoint is None:
            begun = _Checkpoint(await self._begin(name))
            # Another Task may have met it meanwhile.
            checkpoint = self._met.setdefault(name, begun)
        self._met.move_to_end(name)
        while len(self._met) > MOST_MET:
            self._met.popitem(last=False)
        outcome = await self._performer.perform(task, beat)
        if checkpoint.is_kept and not checkpoint.is_awaited:
            async with checkpoint.next_turn():
                if checkpoint.is_kept:
                    checkpoint.is_kept = await self._keep(name)
        return outcome

    async def _begin(self, checkpoint: str) -> bool:
        """Restore what the memory lacks; False where there is something that cannot be read."""
        try:
            if checkpoint in await self._memory.snapshots.checkpoints(self._project):
                return True
            done = await self._memory.snapshots.restore(
                self._folder / checkpoint, self._project, by=_BY, checkpoint=checkpoint
            )
        except SnapshotMissing:
            return True
        except CheckpointDiffers:
            log.debug("%s was restored by another worker at the same moment", checkpoint)
            return True
        except MemoryProblem as problem:
            log.warning("%s is done without its snapshot, which stays: %s", checkpoint, problem)
            return False
        log.info("%s: restored %d nodes of the memory", checkpoint, done.nodes)
        # Later it could not be told that these are the rows in the file.
        return await self._keep(checkpoint) if done.has_new_ids else True

    async def _keep(self, checkpoint: str) -> bool:
        """Write the snapshot; False where there is one that stays as it is."""
        try:
            await self._memory.snapshots.back_up(
                self._project, checkpoint, self._folder / checkpoint
            )
        except UnknownCheckpoint:
            log.debug("%s has nothing in the memory", checkpoint)
        except _STAYS as problem:
            log.warning(
                "no more snapshots of %s are written until this worker is started again: %s (%s)",
                *(checkpoint, problem, problem.hint),
            )
            return False
        except MemoryProblem as problem:
            log.warning("no snapshot of %s was written: %s", checkpoint, problem)
        return True
