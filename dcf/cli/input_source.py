"""JSON that an option gives, as the input of a run: in a file, on the command line, or on standard
input."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf import asl
from dcf.problem import Problem
from dcf.text_marks import unmarked

_LOOKS_LIKE_JSON = re.compile(r'\s*([\[{"]|-?\d|(true|false|null)\s*$)')

MAX_FILE = 16 * 1024**2
"""Most bytes that a command reads of a definition or an input."""

_IRREGULAR: dict[Callable[[int], bool], str] = {
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


@dataclass(frozen=True, slots=True)
class GivenInput:
    """``value`` is None with ``problems``; ``file`` names the place for further problems."""

    value: Any
    text: str
    file: str
    problems: tuple[Problem, ...] = ()

    def place(self, problems: list[Problem]) -> list[Problem]:
        """``problems`` about the value, placed in its text."""
        unplaced = [
            Problem(p.code, p.message, p.path, p.hint, p.severity, self.file) for p in problems
        ]
        return asl.place(unplaced, self.text, self.file)


def read_input(given: str | None, option: str = "--input") -> GivenInput:
    """What ``option`` names; ``{}`` without. Never raises for what a user wrote."""
    if given is None:
        return GivenInput({}, "{}", option)
    if given == "-":
        return _read_stdin()
    if is_json(given):
        return _parse(given, option)
    file = Path(given)
    if _is_there(file):
        return read_text(file)
    hint = "give a file, the JSON itself, or - for standard input"
    message = f"what {option} gives is neither a file nor JSON"
    problem = Problem("CLI_INPUT", message, hint=hint, file=given)
    return GivenInput(None, "", given, (problem,))


def is_json(given: str) -> bool:
    """Whether ``given`` is JSON itself rather than the name of a file."""
    return _LOOKS_LIKE_JSON.match(given) is not None and not _is_there(Path(given))


def read_text(file: Path) -> GivenInput:
    """The JSON in ``file``."""
    text, problem = read_file(file)
    return GivenInput(None, "", str(file), (problem,)) if problem else _parse(text, str(file))


def read_file(file: Path) -> tuple[str, Problem | None]:
    """The text of a file that the user named, or the problem with it."""
    content, problem = read_bytes(file)
    if problem is not None:
        return "", problem
    data, encoding = unmarked(content)
    try:
        return data.decode(encoding or "utf-8"), None
    except UnicodeDecodeError as error:
        return "", _not_utf8(error, str(file))


def read_bytes(file: Path) -> tuple[bytes, Problem | None]:
    """What is in a file that the user named, or the problem with it."""
    try:
        irregular = _irregular(file)
        if irregular:
            message = f"this is {irregular}, no file"
            hint = "give a regular file: save what it gives into one"
            return b"", Problem("CLI_FILE", message, hint=hint, file=str(file))
        with file.open("rb") as source:
            content = source.read(MAX_FILE + 1)
        if len(content) > MAX_FILE:
            return b"", _too_large(str(file))
        return content, None
    except FileNotFoundError:
        hint = _near(file) or "check the path; it counts from the current folder"
        return b"", Problem("CLI_FILE", "there is no such file", hint=hint, file=str(file))
    except (OSError, ValueError) as error:
        message = f"it cannot be read: {getattr(error, 'strerror', None) or error}"
        return b"", Problem("CLI_FILE", message, hint="give a readable file", file=str(file))


def _read_stdin() -> GivenInput:
    try:
        text = sys.stdin.read(MAX_FILE + 1)
    except UnicodeDecodeError as error:
        return GivenInput(None, "", "stdin", (_not_utf8(error, "stdin"),))
    if len(text) > MAX_FILE:
        return GivenInput(None, "", "stdin", (_too_large("stdin"),))
    return _parse(text, "stdin")


def _irregular(file: Path) -> str:
    """What ``file`` is when reading it might never end; empty for all else."""
    mode = file.stat().st_mode
    return next((what for is_so, what in _IRREGULAR.items() if is_so(mode)), "")


def _not_utf8(error: UnicodeDecodeError, file: str) -> Problem:
    message = f"this is no UTF-8 text (byte {error.start})"
    return Problem("CLI_FILE", message, hint="save it as UTF-8", file=file)


def _too_large(file: str) -> Problem:
    message = f"this is larger than {MAX_FILE // 1024**2} MB, the most that is read"
    return Problem("CLI_FILE", message, hint="give a smaller file", file=file)


def _parse(text: str, file: str) -> GivenInput:
    value, problems = asl.read_json(text, file)
    return GivenInput(value, text, file, tuple(problems))


def _is_there(path: Path) -> bool:
    """Whether it names something that can be read: a folder cannot."""
    try:
        return path.exists() and not path.is_dir()
    except (OSError, ValueError):
        # Too long or with a NUL: JSON, most likely.
        return False


def _near(file: Path) -> str:
    from difflib import get_close_matches

    if not file.parent.is_dir():
        return ""
    names = [path.name for path in file.parent.iterdir() if path.suffix == file.suffix]
    close = get_close_matches(file.name, names, n=1)
    return f"did you mean {file.parent / close[0]}?" if close else ""
