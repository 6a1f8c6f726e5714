"""Writing the generated folder: each file whole or not at all, stale ones removed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dcf.skills.generation.artefacts import LOCK, POLICY, REGISTRY

_FOLDERS = ("manifests", "catalogs", "stub", "tests", "schemas")
_AT_TOP = (POLICY, REGISTRY)
_FORMER_LOCK = "skills.lock.json"
# Known as ours by its name alone, so that a lost lock file leaves no stale skill behind.
_MANIFEST = re.compile(r"skill\.[a-z0-9._-]+-[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.-]*\.json")


@dataclass(frozen=True, slots=True)
class Deposit:
    """Paths below the generated folder, sorted."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]


def deposit(files: Mapping[str, bytes], folder: Path) -> Deposit:
    """Make ``folder`` hold ``files``, in their order; files of others are left alone.

    Removed are those that the previous lock file names and ``files`` does not, and manifests.
    Raises OSError; every single file is then either old or new, and running again completes it.
    """
    found = compare(files, folder)
    written = set(found.written)
    for name, data in files.items():
        if name in written:
            write_whole(folder / name, data)
    for name in found.removed:
        (folder / name).unlink()
    return found


def compare(files: Mapping[str, bytes], folder: Path) -> Deposit:
    """What ``deposit`` would do, without doing it. Raises OSError."""
    stale = sorted(_owned(folder) - set(files))
    written: list[str] = []
    unchanged: list[str] = []
    for name, data in files.items():
        path = folder / name
        same = path.is_file() and path.read_bytes() == data
        (unchanged if same else written).append(name)
    return Deposit(tuple(sorted(written)), tuple(stale), tuple(sorted(unchanged)))


def write_whole(path: Path, data: bytes) -> None:
    """Make ``path`` hold ``data``: a reader sees the old file or the new one. Raises OSError."""
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
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    # The new name lives in the folder: without this, a power failure may bring the old one back.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _owned(folder: Path) -> set[str]:
    names = {f"manifests/{path.name}" for path in (folder / "manifests").glob("skill.*.json")}
    owned = {name for name in names if _MANIFEST.fullmatch(PurePosixPath(name).name)}
    for lock in (LOCK, _FORMER_LOCK):
        named = _locked(folder / lock)
        owned.update(name for name in named if _is_ours(name))
        if named and lock == _FORMER_LOCK:
            owned.add(lock)
    return {name for name in owned if (folder / name).is_file()}


def _locked(lock: Path) -> list[str]:
    """The artefacts that a lock file names; none when it is missing or damaged."""
    try:
        document = json.loads(lock.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return []
    artefacts = document.get("artefacts") if isinstance(document, dict) else None
    return list(artefacts) if isinstance(artefacts, dict) else []


def _is_ours(name: str) -> bool:
    # A lock file may have been edited: it never leads out of the folders.
    parts = PurePosixPath(name).parts
    return name in _AT_TOP or (len(parts) == 2 and parts[0] in _FOLDERS and parts[1] != "..")
