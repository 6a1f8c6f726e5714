"""Writing the generated folder: each file whole or not at all, stale ones removed."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from threading import get_native_id

from dcf.digest import file_json
from dcf.regular_file import read_regular
from dcf.skills.generation.artefacts import LOCK, POLICY, REGISTRY

_FOLDERS = ("manifests", "catalogs", "stub", "tests", "schemas")
_AT_TOP = (POLICY, REGISTRY)
_FORMER_LOCK = "skills.lock.json"
# Known as ours by its name alone, so that a lost lock file leaves no stale skill behind.
_MANIFEST = re.compile(r"skill\.[a-z0-9._-]+-[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.-]*\.json")
# What whoever was killed while writing has left.
_HALF_WRITTEN = re.compile(r"\..+\.(?:json|lock)\.[0-9]+\.tmp")
# File systems on which folders cannot be locked.
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOTSUP)
PATIENCE_S = 5.0
"""How long a reader waits for a generation: an ordinary one takes a tenth of a second."""
_LOOK_AGAIN_S = 0.02


@dataclass(frozen=True, slots=True)
class Deposit:
    """Paths below the generated folder, sorted."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: tuple[str, ...]


@contextmanager
def sole_writer(folder: Path) -> Iterator[None]:
    """Nobody else writes to ``folder`` meanwhile, in no process; who comes second waits. Two
    generations at once would leave some files of each. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        yield
    finally:
        os.close(descriptor)


def deposit(files: Mapping[str, bytes], folder: Path) -> Deposit:
    """Make ``folder`` hold ``files``, in their order, the lock file last; files of others are left
    alone.

    Removed are those that the previous lock file names and ``files`` does not, manifests, and what
    somebody killed was writing. Raises OSError; every single file is then either old or new, the
    lock file says that it is unfinished, and running again completes it.
    """
    found = compare(files, folder)
    written = set(found.written)
    if (written | set(found.removed)) - {LOCK}:
        # Some files of before and some of now fit each other by chance only: nobody may use them.
        written.add(LOCK)
        write_whole(folder / LOCK, _unfinished({*files, *found.removed}))
    for name, data in files.items():
        if name in written and name != LOCK:
            write_whole(folder / name, data)
    for name in found.removed:
        (folder / name).unlink(missing_ok=True)
    if LOCK in written:
        write_whole(folder / LOCK, files[LOCK])
    return found


@contextmanager
def whole(folder: Path, *, patience_s: float = PATIENCE_S) -> Iterator[bool]:
    """Nobody writes to ``folder`` while it is read in the block. Gives whether its files belong
    together: False after a generation that was broken off, and when one that is under way took
    longer than ``patience_s``. Readers do not wait for each other."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        # Whoever reads in it will say what is wrong.
        yield True
        return
    try:
        yield _without_writers(descriptor, patience_s) and not _says_unfinished(folder)
    finally:
        os.close(descriptor)


def _without_writers(descriptor: int, patience_s: float) -> bool:
    """Keep writers out of the folder, until it is closed; False if one is in it for too long."""
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno != errno.EWOULDBLOCK:
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_AGAIN_S)
        else:
            return True


def _says_unfinished(folder: Path) -> bool:
    try:
        lock = json.loads(read_regular(folder / LOCK))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(lock, dict) and lock.get("unfinished") is True


def compare(files: Mapping[str, bytes], folder: Path) -> Deposit:
    """What ``deposit`` would do, without doing it. Raises OSError."""
    stale = sorted(_owned(folder) - set(files))
    written: list[str] = []
    unchanged: list[str] = []
    for name, data in files.items():
        path = folder / name
        same = path.is_file() and _same_text(path, data)
        (unchanged if same else written).append(name)
    return Deposit(tuple(sorted(written)), tuple(stale), tuple(sorted(unchanged)))


def _same_text(path: Path, data: bytes) -> bool:
    """Whether the file holds ``data``, with lines that end in LF or, in a checkout, in CRLF."""
    found = read_regular(path, len(data) + data.count(b"\n") + 1)
    return found == data or found.replace(b"\r\n", b"\n") == data


def write_whole(path: Path, data: bytes) -> None:
    """Make ``path`` hold ``data``: a reader sees the old file or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{get_native_id()}.tmp")
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


def _unfinished(names: set[str]) -> bytes:
    """A lock file that is none yet. It names all artefacts, those of before and those of now, so
    that whoever generates after a crash knows which are stale."""
    return file_json({"unfinished": True, "artefacts": dict.fromkeys(sorted(names - {LOCK}), "")})


def _owned(folder: Path) -> set[str]:
    names = {f"manifests/{path.name}" for path in (folder / "manifests").glob("skill.*.json")}
    owned = {name for name in names if _MANIFEST.fullmatch(PurePosixPath(name).name)}
    for lock in (LOCK, _FORMER_LOCK):
        named = _locked(folder / lock)
        owned.update(name for name in named if _is_ours(name))
        if named and lock == _FORMER_LOCK:
            owned.add(lock)
    owned.update(
        path.relative_to(folder).as_posix()
        for place in (folder, *(folder / name for name in _FOLDERS))
        for path in place.glob(".*.tmp")
        if _HALF_WRITTEN.fullmatch(path.name)
    )
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
