"""Plannings on disk: one file each, changed by compare-and-set."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf.planner.conversation.planning import Planning
from dcf.planner.errors import PlanningConflict, PlanningDamaged, UnknownPlanning
from dcf.regular_file import read_regular

_ID = re.compile(r"[a-z0-9]{4,40}")


class PlanningStore:
    """The plannings in ``folder``, which is made by the first. Whoever is killed leaves the
    planning as it was before or as it is after, never half of it; a revision is written once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, id_: str) -> Planning:
        """Raises UnknownPlanning, PlanningDamaged."""
        return self._read(self._file(id_), id_)

    def save(self, planning: Planning) -> Planning:
        """The planning under the next revision, if the stored one is the revision that this was
        made of (0: there is none yet). Raises PlanningConflict, OSError."""
        file = self._file(planning.id)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _alone(self.folder):
            found = self._read(file, planning.id).revision if file.exists() else 0
            if found != planning.revision:
                raise PlanningConflict(id=planning.id, found=found, expected=planning.revision)
            kept = replace(planning, revision=planning.revision + 1)
            write_file(file, ordered_json(kept.to_json()))
            return kept

    def all(self) -> tuple[list[Planning], list[PlanningDamaged]]:
        """Those that can be read, the newest first, and those that cannot."""
        found: list[Planning] = []
        damaged: list[PlanningDamaged] = []
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []
        for file in files:
            if not _ID.fullmatch(file.stem):
                continue
            try:
                found.append(self._read(file, file.stem))
            except PlanningDamaged as error:
                damaged.append(error)
        return sorted(found, key=lambda one: (-one.updated_at, one.id)), damaged

    def _file(self, id_: str) -> Path:
        if not _ID.fullmatch(id_):
            raise UnknownPlanning(id=id_)
        return self.folder / f"{id_}.json"

    @staticmethod
    def _read(file: Path, id_: str) -> Planning:
        try:
            document = json.loads(read_regular(file))
            planning = Planning.from_json(document)
        except FileNotFoundError:
            raise UnknownPlanning(id=id_) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PlanningDamaged(file=file, why=error) from error
        if planning.id != id_:
            raise PlanningDamaged(file=file, why=f"it is that of {planning.id}")
        return planning


def ordered_json(value: Any) -> bytes:
    """``value`` for a file. Members keep their order, which shows in texts made of values."""
    return f"{json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)}\n".encode()


def write_file(path: Path, data: bytes) -> None:
    """Make ``path`` hold ``data``: a reader sees the old file or the new one, and after a power
    failure too. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else saves in ``folder`` meanwhile, in no process."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
