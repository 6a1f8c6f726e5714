"""What the user is told of an exception: exit code, message, hint, problems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT, ENVIRONMENT, FAILED
from dcf.cli.wording import counted
from dcf.problem import Problem

MOST_LISTED = 200
"""Most problems of one file that are listed as text."""
_NAMED = 5
"""Files that the last line of an error names."""


class CliError(Exception):
    """What a command itself finds wrong."""


class BadInput(CliError):
    """The user's input is wrong; ``problems`` has all that is."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class NotSo(CliError):
    """What was asked for cannot be, as things stand."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        self.code, self.message, self.hint = code, message, hint
        super().__init__(message)


class NoSuch(NotSo):
    """What the user named is not there."""


class EnvironmentTrouble(NotSo):
    """Something that DCF needs is missing."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the user is told."""

    exit_code: int
    code: str
    message: str
    hint: str = ""
    problems: tuple[Problem, ...] = ()

    def to_answer(self) -> Answer:
        """As an answer; for people, the problems follow the message."""
        if not self.problems:
            note = ErrorNote(self.code, self.message, self.hint)
            placed = Problem(self.code, self.message, hint=self.hint)
            fields = {"problems": [placed.to_dict()]}
            return Answer(fields, status="error", error=note, exit_code=self.exit_code)
        listing = listed(self.problems)
        note = ErrorNote(self.code, self.message, self.hint, listing)
        fields = {"problems": [problem.to_dict() for problem in self.problems]}
        return Answer(fields, status="error", error=note, exit_code=self.exit_code)


def explain_error(error: BaseException) -> Trouble | None:
    """What to tell the user about ``error``; None for what only a defect can raise."""
    if isinstance(error, BadInput):
        return list_troubles(error.problems)
    if isinstance(error, EnvironmentTrouble):
        return Trouble(ENVIRONMENT, error.code, error.message, error.hint)
    if isinstance(error, NotSo):
        exit_code = BAD_INPUT if isinstance(error, NoSuch) else FAILED
        return Trouble(exit_code, error.code, error.message, error.hint)
    # What it takes to tell the errors of all rooms apart is needed by nobody else.
    from dcf.cli.trouble_elsewhere import explain_elsewhere

    return explain_elsewhere(error)


def list_troubles(problems: Iterable[Problem]) -> Trouble:
    found = tuple(problems)
    return Trouble(BAD_INPUT, "bad_input", summary(found), problems=found)


def listed(problems: Iterable[Problem]) -> tuple[str, ...]:
    """``problems`` as text for people: no more than a reader can take in for each file."""
    by_file: dict[str | None, list[Problem]] = {}
    for problem in problems:
        by_file.setdefault(problem.file, []).append(problem)
    lines: list[str] = []
    for file, found in by_file.items():
        lines += [str(problem) for problem in found[:MOST_LISTED]]
        left = len(found) - MOST_LISTED
        if left > 0:
            where = f"{file}: " if file else ""
            lines.append(f"{where}… and {left:,} more; --json has all")
    return tuple(lines)


def summary(problems: Iterable[Problem]) -> str:
    """How many errors there are, and in which files: ``3 problems in order.json``."""
    errors = [problem for problem in problems if problem.is_error]
    files = dict.fromkeys(problem.file for problem in errors if problem.file)
    named = ", ".join(list(files)[:_NAMED])
    more = f" and {len(files) - _NAMED:,} more" if len(files) > _NAMED else ""
    return counted(len(errors), "problem", "problems") + (f" in {named}{more}" if files else "")
