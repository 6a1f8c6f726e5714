"""The input of a run: a file, JSON on the command line, or standard input."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf import asl
from dcf.problem import Problem

_LOOKS_LIKE_JSON = re.compile(r'\s*([\[{"]|-?\d|(true|false|null)\s*$)')


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


def read_input(given: str | None) -> GivenInput:
    """The input that ``--input`` names; ``{}`` without. Never raises for what a user wrote."""
    if given is None:
        return GivenInput({}, "{}", "--input")
    if given == "-":
        return _parse(sys.stdin.read(), "stdin")
    file = Path(given)
    if _is_file(file):
        return read_text(file)
    if _LOOKS_LIKE_JSON.match(given):
        return _parse(given, "--input")
    hint = "give a file, the JSON itself, or - for standard input"
    problem = Problem("CLI_INPUT", "this is neither a file nor JSON", hint=hint, file=given)
    return GivenInput(None, "", given, (problem,))


def read_text(file: Path) -> GivenInput:
    """The JSON in ``file``."""
    text, problem = read_file(file)
    return GivenInput(None, "", str(file), (problem,)) if problem else _parse(text, str(file))


def read_file(file: Path) -> tuple[str, Problem | None]:
    """The text of a file that the user named, or the problem with it."""
    try:
        return file.read_text(encoding="utf-8-sig"), None
    except FileNotFoundError:
        hint = _near(file) or "check the path; it counts from the current folder"
        return "", Problem("CLI_FILE", "there is no such file", hint=hint, file=str(file))
    except UnicodeDecodeError as error:
        message = f"this is no UTF-8 text (byte {error.start})"
        return "", Problem("CLI_FILE", message, hint="save it as UTF-8", file=str(file))
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        return "", Problem("CLI_FILE", message, hint="give a readable file", file=str(file))


def _parse(text: str, file: str) -> GivenInput:
    value, problems = asl.read_json(text, file)
    return GivenInput(value, text, file, tuple(problems))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
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
