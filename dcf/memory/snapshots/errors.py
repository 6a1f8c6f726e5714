"""What can go wrong with snapshots of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.memory.errors import MemoryProblem
from dcf.problem import Problem


class UnknownCheckpoint(MemoryProblem):
    """The project {project!r} has no checkpoint {checkpoint!r}.{known}"""

    code = "memory_unknown_checkpoint"
    hint = "`dcf memory scope tree` shows the nodes, each as CHECKPOINT/NAME"

    def __init__(self, project: str, checkpoint: str, known: Sequence[str] = ()) -> None:
        has = f" It has: {', '.join(known)}." if known else ""
        super().__init__(project=project, checkpoint=checkpoint, known=has)


class SnapshotMissing(MemoryProblem):
    """There is no snapshot {path}."""

    code = "memory_snapshot_missing"
    hint = "name the folder that `dcf memory scope backup` wrote to"


class SnapshotTooNew(MemoryProblem):
    """{path} was written by a newer DCF: it has format {found!r}, this one knows {known}."""

    code = "memory_snapshot_too_new"
    hint = "restore it with that DCF, or update this one"


class SnapshotTooLarge(MemoryProblem):
    """The snapshot {path} would have {found:,} bytes, more than the {most:,} that can be read."""

    code = "memory_snapshot_too_large"
    hint = "prune branches that are done with, or copy the whole memory with `dcf memory backup`"


class SnapshotDamaged(MemoryProblem):
    """{path} is damaged, first in line {line}: {first}. {whole}; nothing was restored."""

    code = "memory_snapshot_damaged"
    hint = "take another copy of the file; --what-is-whole restores what is whole, without the rest"

    def __init__(self, path: Path, damage: Sequence[Problem], nodes: int, entries: int) -> None:
        """``damage`` has all that is wrong, each with its line."""
        self.damage = tuple(damage)
        line, first = damage[0].line, damage[0].message
        whole = f"Whole are {nodes:,} nodes with {entries:,} entries"
        super().__init__(path=path, line=line, first=first, whole=whole)


class SnapshotUnreadable(MemoryProblem):
    """{path} cannot be read as a snapshot: {reason}. Nothing of it is whole."""

    code = "memory_snapshot_unreadable"
    hint = "take another copy of the file, or an older one"


class SnapshotEncrypted(MemoryProblem):
    """{path} is encrypted, or no snapshot, and this memory has no key."""

    code = "memory_snapshot_encrypted"
    hint = "set DCF_MEMORY_KEY to the key of the memory that it is from"


class SnapshotBusy(MemoryProblem):
    """{folder} is being written to{by}; nothing was written."""

    code = "memory_snapshot_busy"
    hint = "try again when that process is done; if it is stopped, let it go on or end it"

    def __init__(self, folder: Path, processes: Sequence[int]) -> None:
        self.processes = tuple(processes)
        by = f" by process {', '.join(map(str, processes))}" if processes else ""
        super().__init__(folder=folder, by=by)


class SnapshotDiverged(MemoryProblem):
    """{path} has {found!r} of the project {other!r} in a state that {checkpoint!r} of {project!r}
    never had in this memory; the file was left as it is."""

    code = "memory_snapshot_diverged"
    hint = (
        "choose another folder, restore the file under another name with"
        " `dcf memory scope restore FOLDER --as NAME`, or move it away"
    )


class CheckpointDiffers(MemoryProblem):
    """{checkpoint!r} of {project!r} is not what {path} has ({text}); nothing was restored."""

    code = "memory_checkpoint_differs"
    hint = (
        "--as NAME restores it as another checkpoint; or remove what is there"
        " with `dcf memory scope prune`"
    )
