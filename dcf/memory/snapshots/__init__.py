"""Snapshots of checkpoints, which travel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from control_plane import export_late

if TYPE_CHECKING:
    from dcf.memory.snapshots.errors import (
        CheckpointDiffers,
        SnapshotBusy,
        SnapshotDamaged,
        SnapshotDiverged,
        SnapshotEncrypted,
        SnapshotMissing,
        SnapshotTooLarge,
        SnapshotTooNew,
        SnapshotUnreadable,
        UnknownCheckpoint,
    )
    from dcf.memory.snapshots.snapshots import Snapshots
else:
    export_late(__name__)

__all__ = [
    "CheckpointDiffers",
    "SnapshotBusy",
    "SnapshotDamaged",
    "SnapshotDiverged",
    "SnapshotEncrypted",
    "SnapshotMissing",
    "SnapshotTooLarge",
    "SnapshotTooNew",
    "SnapshotUnreadable",
    "Snapshots",
    "UnknownCheckpoint",
]
