"""Snapshots of checkpoints: all nodes with what they have, out of a memory and into another."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dcf.memory.access import AccessLog
from dcf.memory.actor import Actor
from dcf.memory.database import Connection
from dcf.memory.ledger import Ledger
from dcf.memory.snapshot import SNAPSHOT_FILE, Restored, Snapshot
from dcf.memory.snapshots.comparing import difference, was_once
from dcf.memory.snapshots.errors import SnapshotDamaged, SnapshotDiverged, UnknownCheckpoint
from dcf.memory.snapshots.keeping import alone, keep, kept, stamp
from dcf.memory.snapshots.lines import counts_of, read, written
from dcf.memory.snapshots.restoring import write_versions
from dcf.memory.snapshots.version import Version, last_rows, removed_versions, versions_of
from dcf.memory.snapshots.wholeness import whole
from dcf.problem import Problem

_CLOSEST = 10
_MOST_STAMPS = 1_000


@dataclass(frozen=True, slots=True)
class _Read:
    """What the file ``path`` has, with what of it was left out."""

    path: Path
    header: Mapping[str, Any]
    versions: tuple[Version, ...]
    damage: tuple[Problem, ...]


class Snapshots:
    """Files ``memory_backup.jsonl.gz``, each in the folder of a checkpoint.

    A snapshot has the nodes of one checkpoint with their entries and all versions of both, the
    trace and the context of an experiment among them, under the ids that they have. What stands in
    the root of the project is the project's and stays there. Vectors are not in it: they are made
    by the next search, with the model that this memory searches with.
    """

    def __init__(
        self,
        ledger: Ledger,
        access: AccessLog,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Who takes a checkpoint along is noted in ``access``. ``clock`` counts seconds; by both
        another writer is waited for."""
        self._ledger, self._access = ledger, access
        self._clock, self._sleep = clock, sleep
        self._stamps: OrderedDict[tuple[str, str, Path], object] = OrderedDict()
        """The files that were written here last, by project, checkpoint and folder: they need no
        look before they are replaced."""

    async def checkpoints(self, project: str) -> tuple[str, ...]:
        """The names of a project's checkpoints, the one that was made last first."""
        return await self._ledger.read(lambda connection: _checkpoints(connection, project))

    async def back_up(
        self, project: str, checkpoint: str, folder: Path, *, by: Actor | None = None
    ) -> Snapshot:
        """Write the snapshot of a checkpoint, as it is now, to a folder, in place of the one there:
        whole or not at all, and encrypted if the memory is. The whole checkpoint is written, each
        time. That ``by`` reads all of it is noted; None: a worker keeps what it has, as after each
        Task, and nobody reads it.

        Raises UnknownCheckpoint, SnapshotTooLarge, MemoryFull, MemoryUnusable, SnapshotBusy while
        another process writes to the folder, SnapshotDiverged where the one there is neither what
        this memory has nor what it had before, and as ``restore`` where that cannot be read. Then
        the one there stays.
        """
        await self._ledger.read(lambda connection: _demand(connection, project, checkpoint))
        source = self._ledger.database.source
        # Nothing is read of the checkpoint before this call alone writes to the folder.
        async with alone(folder, source, clock=self._clock, sleep=self._sleep):
            writing = asyncio.ensure_future(self._write(project, checkpoint, folder, by))
            try:
                return await asyncio.shield(writing)
            finally:
                # The folder is ours until the threads are done, also where the caller went away.
                await asyncio.gather(writing, return_exceptions=True)

    async def _write(
        self, project: str, checkpoint: str, folder: Path, by: Actor | None
    ) -> Snapshot:
        source = self._ledger.database.source
        there: _Read | None = None
        key = (project, checkpoint, folder)
        found = stamp(folder, source)
        if found is not None and found != self._stamps.get(key):
            there = await asyncio.to_thread(self._read, folder)

        def look(connection: Connection) -> tuple[Snapshot, Sequence[Version]]:
            versions = versions_of(connection, project, checkpoint)
            if there is not None:
                _demand_own(connection, project, checkpoint, versions, there)
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
            return snapshot, versions

        snapshot, versions = await self._ledger.read(look)
        await asyncio.to_thread(lambda: keep(written(snapshot, versions), folder, source))
        if by is not None:
            entries = last_rows(versions, "entry")
            read = [(row["node_id"], entry_id) for entry_id, row in entries.items()]
            self._access.note(by, "backup", None, read)
        self._stamps[key] = stamp(folder, source)
        self._stamps.move_to_end(key)
        while len(self._stamps) > _MOST_STAMPS:
            self._stamps.popitem(last=False)
        return snapshot

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
        found = await asyncio.to_thread(self._read, folder, what_is_whole=what_is_whole)
        name = checkpoint or found.header["checkpoint"]
        done = await self._ledger.change(
            by, lambda journal: write_versions(journal, found.versions, project, name, found.path)
        )
        return replace(done, damage=found.damage)

    def _read(self, folder: Path, *, what_is_whole: bool = False) -> _Read:
        """The file in a folder. Raises as ``restore``."""
        path, data = kept(folder, self._ledger.database.source)
        contents = read(data, path)
        versions, damage = whole(contents, path)
        if damage and not (what_is_whole and versions):
            counts = counts_of(versions)
            raise SnapshotDamaged(path, damage, counts["nodes"], counts["entries"])
        return _Read(path, contents.header, versions, damage)


def _demand_own(
    connection: Connection,
    project: str,
    checkpoint: str,
    here: Sequence[Version],
    found: _Read,
) -> None:
    """Raises SnapshotDiverged unless the file has what the checkpoint has or had."""
    there = found.versions
    removed = removed_versions(connection, project, checkpoint, here, there)
    if was_once(here, removed, there) or not difference(here, there):
        return
    raise SnapshotDiverged(
        path=found.path,
        found=found.header["checkpoint"],
        other=found.header["project"],
        checkpoint=checkpoint,
        project=project,
    )


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
