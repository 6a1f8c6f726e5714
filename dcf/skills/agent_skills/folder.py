"""A folder of an Agent Skill: its files as bytes, read within limits, written whole or not."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from dcf.problem import Problem
from dcf.skills.authoring.source_tree import is_inside

SKILL_MD = "SKILL.md"
MANIFEST = "dcf.manifest.json"
TESTS = "dcf.tests.json"
TOOLS = "dcf.tools.json"
MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024
MOST_TEXT = 1_048_576
"""The largest file that becomes a data source, in bytes."""
_NOT_SKILL = frozenset({".git", "__pycache__", ".DS_Store"})


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """``files`` by path below the folder, with slashes; SKILL.md is one of them."""

    name: str
    files: Mapping[str, bytes] = field(hash=False)

    def text(self, path: str) -> str | None:
        """A file as text; None when there is no such file or it is no text."""
        return as_text(self.files.get(path))


def as_text(data: bytes | None) -> str | None:
    """``data`` as text that gives the same bytes again; None when it is none."""
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def as_data(data: bytes | None) -> str | None:
    """``data`` as a text that a data source gives back: not too large, no zero bytes, and no byte
    order mark, which would be lost."""
    text = as_text(data)
    if data is None or text is None or b"\0" in data or len(data) > MOST_TEXT:
        return None
    return None if text.startswith("\ufeff") else text


def is_safe_path(path: str) -> bool:
    """Whether ``path`` names a file below a folder, on every system: relative, no ``..``, nothing
    that a system reads in its own way."""
    parts = path.split("/")
    return len(path) <= 500 and all(
        part not in ("", ".", "..")
        and part.isprintable()
        and not part.startswith("~")
        and not set(part) & set('\\:*?"<>|')
        for part in parts
    )


def read_folder(path: Path) -> tuple[SkillFolder | None, list[Problem]]:
    """The folder at ``path``; None with all problems when it cannot be taken. Links are followed
    inside of it only."""
    root = path.parent if path.name == SKILL_MD else path
    if not (root / SKILL_MD).is_file():
        message = "there is no SKILL.md in this folder" if root.is_dir() else "no such folder"
        hint = "name the folder of one skill"
        return None, [Problem("AGENT_SKILL_FOLDER_MISSING", message, hint=hint, file=str(root))]
    problems: list[Problem] = []
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for file in _files(root, problems):
        name = file.relative_to(root).as_posix()
        if len(files) >= MOST_FILES:
            problems.append(_wrong("AGENT_SKILL_SIZE", f"more than {MOST_FILES} files", root))
            break
        data = _read(file, left, problems)
        if data is None:
            continue
        left -= len(data)
        if left < 0:
            problems.append(_wrong("AGENT_SKILL_SIZE", "the files hold more than 16 MiB", root))
            break
        if not is_safe_path(name):
            hint = "rename the file"
            problems.append(_wrong("AGENT_SKILL_PATH", "the name cannot be kept", file, hint))
        files[name] = data
    if problems:
        return None, problems
    return SkillFolder(root.resolve().name, files), []


def _files(root: Path, problems: list[Problem]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        reason = error.strerror or type(error).__name__
        file = Path(error.filename or root)
        problems.append(_wrong("AGENT_SKILL_UNREADABLE", f"cannot be read: {reason}", file))

    for here, folders, names in os.walk(root, onerror=failed):
        for name in sorted(folders):
            if (Path(here) / name).is_symlink():
                hint = "copy what it leads to"
                message = "a link to a folder is not followed"
                problems.append(_wrong("AGENT_SKILL_LINK", message, Path(here) / name, hint))
        folders[:] = sorted(set(folders) - _NOT_SKILL)
        for name in sorted(set(names) - _NOT_SKILL):
            file = Path(here) / name
            if not is_inside(file, root):
                hint = "copy what it leads to"
                message = "the link leads out of the folder"
                problems.append(_wrong("AGENT_SKILL_LINK", message, file, hint))
                continue
            yield file


def _read(file: Path, most: int, problems: list[Problem]) -> bytes | None:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            problems.append(_wrong("AGENT_SKILL_UNREADABLE", "this is no file", file))
            return None
        with file.open("rb") as stream:
            return stream.read(most + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problems.append(_wrong("AGENT_SKILL_UNREADABLE", f"cannot be read: {reason}", file))
        return None


def write_folder(folder: SkillFolder, out: Path) -> list[str]:
    """Write ``folder`` as ``out/<name>``, which must not exist. Answers the paths written, below
    ``out``. Raises OSError."""
    written = []
    (out / folder.name).mkdir(parents=True)
    for name, data in sorted(folder.files.items()):
        path = out / folder.name / PurePosixPath(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as stream:
            stream.write(data)
        written.append(f"{folder.name}/{name}")
    return written


def _wrong(code: str, message: str, file: Path, hint: str = "") -> Problem:
    return Problem(code, message, hint=hint, file=str(file))
