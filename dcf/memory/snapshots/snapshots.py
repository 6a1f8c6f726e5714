"""Snapshots of checkpoints: all nodes with what they have, out of a memory and into another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from dcf.memory.actor import Actor
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.snapshot import SNAPSHOT_FILE, Restored, Snapshot
from dcf.memory.snapshots.errors import SnapshotDamaged, UnknownCheckpoint
from dcf.memory.snapshots.keeping import alone, keep, kept
from dcf.memory.snapshots.lines import counts_of, read, written
from dcf.memory.snapshots.restoring import write_versions
from dcf.memory.snapshots.version import versions_of
from dcf.memory.snapshots.wholeness import whole

_CLOSEST = 10


class Snapshots:
    """Files ``memory_backup.jsonl.gz``, each in the folder of a checkpoint.

    A snapshot has the nodes of one checkpoint with their entries and all versions of both, the
    trace and the context of an experiment among them, under the ids that they have. What stands in
    the root of the project is the project's and stays there. Vectors are not in it: they are made
    by the next search, with the model that this memory searches with.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def checkpoints(self, project: str) -> tuple[str, ...]:
        """The names of a project's checkpoints, the one that was made last first."""
        return await self._ledger.read(lambda connection: _checkpoints(connection, project))

    async def back_up(self, project: str, checkpoint: str, folder: Path) -> Snapshot:
        """Write the snapshot of a checkpoint, as it is now, to a folder, in place of the one there:
        whole or not at all, and encrypted if the memory is. The whole checkpoint is written, each
        time.

        Raises UnknownCheckpoint, SnapshotTooLarge, MemoryFull, MemoryUnusable.
        """

        await self._ledger.read(lambda connection: _demand(connection, project, checkpoint))
        source = self._ledger.database.source

        def write(connection: Connection) -> Snapshot:
            # Nothing is read before this process alone writes to the folder.
            with alone(folder, source):
                versions = versions_of(connection, project, checkpoint)
                state = connection.execute("SELECT embedder FROM search_state").fetchone()
                snapshot = Snapshot(
                    file=folder.absolute() / SNAPSHOT_FILE,
                    project=project,
                    checkpoint=checkpoint,
                    made_at=self._ledger.clock(),
                    embedder=state["embedder"] or None,
                    encrypted=source.key is not None,
                    **counts_of(versions),
                )
                keep(written(snapshot, versions), folder, source)
            return snapshot

        return await self._ledger.read(write)

    async def restore(
        self,
        folder: Path,
        project: str,
        *,
        by: Actor,
        checkpoint: str | None = None,
        what_is_whole: bool = False,
    ) -> Restored:
        """Put the snapshot in a folder into a project, as the ``checkpoint`` (None: as it was
        called), in one transaction. There is no such checkpoint yet, or an equal one, and then
        nothing is written. Ids are kept unless others have them. Of a damaged file
        ``what_is_whole`` is restored, if that is said.

        Raises CheckpointDiffers, InvalidEntry (the name), SnapshotMissing, SnapshotEncrypted,
        MemoryKey, SnapshotTooNew, SnapshotUnreadable, SnapshotDamaged with all that is wrong.
        """
        path, data = await asyncio.to_thread(kept, folder, self._ledger.database.source)
        contents = await asyncio.to_thread(read, data, path)
        versions, damage = whole(contents, path)
        counts = counts_of(versions)
        if damage and not (what_is_whole and versions):
            raise SnapshotDamaged(path, damage, counts["nodes"], counts["entries"])
        name = checkpoint or contents.header["checkpoint"]
        done = await self._ledger.change(
            by, lambda journal: write_versions(journal, versions, project, name, path)
        )
        return replace(done, damage=damage)


def _demand(connection: Connection, project: str, checkpoint: str) -> None:
    """Raises UnknownCheckpoint."""
    known = _checkpoints(connection, project)
    if checkpoint not in known:
        raise UnknownCheckpoint(project, checkpoint, known[:_CLOSEST])


def _checkpoints(connection: Connection, project: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT checkpoint FROM nodes WHERE project = ? AND parent IS NOT NULL"
        " GROUP BY checkpoint ORDER BY max(created_at) DESC, checkpoint",
        (project,),
    )
    return tuple(row["checkpoint"] for row in rows)
