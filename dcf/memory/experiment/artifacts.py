"""Files that a node made: their SHA-256 when they are recorded, and when they are looked at again.

No path leads out of the folder that was named, and no link is followed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias

from dcf.memory.database import Connection
from dcf.memory.errors import MemoryProblem
from dcf.workspace import ConfinedRoot, FileRefused

_CHUNK = 1 << 20

State: TypeAlias = Literal["intact", "changed", "missing", "outside", "unrecorded"]


class ArtifactRefused(MemoryProblem):
    """The artifact {path!r} of {folder} cannot be recorded: {reason}."""

    code = "memory_artifact"
    hint = "name regular files by their paths below the folder in which the node worked"


class FolderRefused(MemoryProblem):
    """The folder {path} cannot be looked at: {reason}."""

    code = "memory_artifact_folder"
    hint = "name a folder that is there; a server looks only into the one that it was started with"


@dataclass(frozen=True, slots=True)
class Checked:
    """A recorded file as it is now. ``expected`` and ``found`` are SHA-256, in hexadecimal; None
    where there is none."""

    path: str
    state: State
    expected: str | None
    found: str | None


def folder_in(path: str | Path, files: Path | None) -> Path:
    """The folder ``path``, which is ``files`` or lies in it (None: any). Raises FolderRefused."""
    found = place_in(path, files)
    if not found.is_dir():
        raise FolderRefused(path=path, reason="there is no such folder")
    return found


def place_in(path: str | Path, files: Path | None) -> Path:
    """The place ``path``, links followed, which is ``files`` or lies in it (None: any). Raises
    FolderRefused."""
    base = Path.cwd() if files is None else files.resolve()
    try:
        found = (base / path).resolve()
    except (OSError, ValueError) as error:
        raise FolderRefused(path=path, reason=str(error)) from error
    if files is not None and not found.is_relative_to(base):
        raise FolderRefused(path=path, reason=f"it lies outside of {base}")
    return found


def recorded(folder: Path, paths: Sequence[str]) -> list[dict[str, Any]]:
    """``{path, sha256, bytes}`` of files in ``folder``, by paths from there on. Raises
    ArtifactRefused."""
    root = ConfinedRoot(folder)
    found = []
    for path in dict.fromkeys(paths):
        try:
            parts = root.parts(path)
            sha256, size = _measured(root, parts)
        except (OSError, FileRefused) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ArtifactRefused(path=path, folder=folder, reason=reason) from error
        found.append({"path": "/".join(parts), "sha256": sha256, "bytes": size})
    return found


def checked(folder: Path, metadata: Mapping[str, Any]) -> Iterator[Checked]:
    """What became of the files that an entry's metadata name: ``artifacts`` as ``recorded`` has
    them, below ``work_dir``. In a copy of the folder the end of ``work_dir`` is looked for."""
    places = [ConfinedRoot(one) for one in _folders(folder, str(metadata.get("work_dir") or ""))]
    for one in _listed(metadata):
        path = str(one.get("path") or "")
        expected = one.get("sha256")
        if not isinstance(expected, str):
            yield Checked(path, "unrecorded", None, None)
            continue
        yield _checked(places, path, expected.removeprefix("sha256:").lower())


def rows_with_artifacts(
    connection: Connection, project: str, checkpoint: str, run_id: str
) -> list[tuple[str, str, str, str]]:
    """Name of the node, metadata, id of the node and id of each entry of an experiment that names
    files."""
    rows = connection.execute(
        "SELECT n.name, e.metadata, e.node_id, e.id"
        " FROM nodes n JOIN node_entries e ON e.node_id = n.id"
        " WHERE n.project = ? AND n.checkpoint = ?"
        " AND json_extract(e.metadata, '$.artifacts') IS NOT NULL"
        " AND (?3 = '' OR json_extract(e.metadata, '$.run_id') = ?3)"
        " ORDER BY e.created_at, e.rowid",
        (project, checkpoint, run_id),
    )
    return [tuple(row) for row in rows]


def _checked(places: Sequence[ConfinedRoot], path: str, expected: str) -> Checked:
    state: State = "missing"
    for root in places:
        try:
            found, _ = _measured(root, root.parts(path))
        except FileRefused as error:
            if error.code in ("outside_root", "invalid_path"):
                return Checked(path, "outside", expected, None)
        except OSError as error:
            if error.errno == errno.ELOOP:
                return Checked(path, "outside", expected, None)
        else:
            return Checked(path, "intact" if found == expected else "changed", expected, found)
    return Checked(path, state, expected, None)


def _listed(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    named = metadata.get("artifacts")
    given = named if isinstance(named, list) else [named]
    return [one if isinstance(one, dict) else {"path": one} for one in given if one]


def _folders(root: Path, work_dir: str) -> list[Path]:
    """Where a node's files may be below ``root``: the longest end of ``work_dir`` that is a folder
    there, which may be ``root`` itself."""
    parts = [one for one in PurePath(work_dir).parts if one not in ("/", "..")]
    for start in range(len(parts) + 1):
        found = root.joinpath(*parts[start:])
        # What no file system has, as a name of 4,000 characters, is not there.
        with suppress(OSError):
            if found.is_dir() and found.resolve().is_relative_to(root.resolve()):
                return [found]
    return []


def _measured(root: ConfinedRoot, parts: Sequence[str]) -> tuple[str, int]:
    """The SHA-256 of a file and its bytes. Raises FileRefused, OSError."""
    with root.place(parts) as place:

        def opened(name: str, flags: int) -> int:
            # Without O_NONBLOCK the opening of a pipe waits for somebody who writes.
            more = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            return os.open(name, flags | more, dir_fd=place.folder)

        with open(place.name, "rb", opener=opened) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no regular file", "/".join(parts))
            total, size = hashlib.sha256(), 0
            while chunk := stream.read(_CHUNK):
                total.update(chunk)
                size += len(chunk)
    return total.hexdigest(), size
