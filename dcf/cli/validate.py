"""``dcf validate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT, OK
from dcf.cli.preparation import check_file, open_catalog
from dcf.cli.settings import Settings
from dcf.cli.trouble import summary
from dcf.problem import Problem


def validate_files(files: Sequence[Path], settings: Settings) -> Answer:
    """Check each file; warnings alone are no failure."""
    catalog = open_catalog(settings)
    problems: list[Problem] = []
    for file in files:
        problems += check_file(file, catalog, settings)[1]
    return judge(problems, f"{len(files)} file{'' if len(files) == 1 else 's'} checked")


def judge(problems: Sequence[Problem], done: str) -> Answer:
    """The verdict on ``problems``: with errors bad input, listed all; else ``done``."""
    errors = sum(problem.is_error for problem in problems)
    warnings = len(problems) - errors
    fields = {
        "errors": errors,
        "warnings": warnings,
        "problems": [problem.to_dict() for problem in problems],
    }
    listing = [str(problem) for problem in problems]
    if not errors:
        counted = f"{done}: no errors, {warnings} warning{'' if warnings == 1 else 's'}"
        return Answer(fields, show=[*map(_plain, listing), counted], exit_code=OK)
    note = ErrorNote("bad_input", summary(problems), details=tuple(listing))
    return Answer(fields, status="error", error=note, exit_code=BAD_INPUT)


def _plain(text: str) -> object:
    from rich.text import Text

    return Text(text)
