"""One file of the source tree: its bytes, its text, its document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dcf.problem import Problem
from dcf.regular_file import read_regular
from dcf.skills.authoring.marked_yaml import read_yaml
from dcf.skills.authoring.place import Document

MAX_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class SourceFile:
    """``name`` is relative to the source folder, with slashes. ``data`` is None when unreadable."""

    path: Path
    name: str
    data: bytes | None
    problems: tuple[Problem, ...] = ()

    @property
    def text(self) -> str:
        return (self.data or b"").decode("utf-8-sig")

    def document(self) -> tuple[Document | None, list[Problem]]:
        """The YAML document in the file, with every problem of reading it."""
        if self.data is None:
            return None, list(self.problems)
        return read_yaml(self.text, str(self.path))


def read_source(path: Path, root: Path) -> SourceFile:
    """The file at ``path`` inside ``root``: at most 1 MiB of UTF-8, else it carries a problem."""
    name = path.relative_to(root).as_posix()
    try:
        data = read_regular(path, MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return _refused(path, name, "SKILL_FILE_UNREADABLE", f"cannot be read: {reason}")
    if len(data) > MAX_BYTES:
        return _refused(path, name, "SKILL_FILE_SIZE", "the file is larger than 1 MiB")
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _refused(path, name, "SKILL_FILE_ENCODING", "the file is not UTF-8 text", line)
    return SourceFile(path, name, data)


def _refused(path: Path, name: str, code: str, message: str, line: int = 1) -> SourceFile:
    problem = Problem(code, message, file=str(path), line=line, column=1)
    return SourceFile(path, name, None, (problem,))
