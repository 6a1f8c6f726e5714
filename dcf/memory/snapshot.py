"""A snapshot of a checkpoint: a file that goes to another folder, home or machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dcf.problem import Problem

SNAPSHOT_FILE = "memory_backup.jsonl.gz"
"""The name of the snapshot in the folder of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that was written: of how many ``nodes`` and ``entries``, which came about by so
    many ``versions``. ``embedder`` made the vectors of the memory that it is from, if there are
    any. ``made_at`` is in ms since the epoch, UTC."""

    file: Path
    project: str
    checkpoint: str
    made_at: int
    embedder: str | None
    nodes: int
    entries: int
    versions: int
    encrypted: bool


@dataclass(frozen=True, slots=True)
class Restored:
    """What came of a restore. Unless it ``is_new`` the checkpoint was there already, equal to the
    snapshot, and nothing was written. ``has_new_ids`` where others in this memory have the ids of
    the snapshot. ``damage`` is what of a damaged file was left out."""

    project: str
    checkpoint: str
    nodes: int
    entries: int
    is_new: bool
    has_new_ids: bool = False
    damage: tuple[Problem, ...] = ()
