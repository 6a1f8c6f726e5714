"""``dcf validate`` and ``dcf asl validate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcf import asl
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import BAD_INPUT, OK
from dcf.cli.input_source import read_file
from dcf.cli.preparation import check_file, open_catalog
from dcf.cli.settings import Settings
from dcf.cli.trouble import listed, summary
from dcf.problem import Problem
from dcf.workflow import validate


def validate_files(files: Sequence[Path], settings: Settings) -> Answer:
    """Check each file; warnings alone are no failure."""
    catalog = open_catalog(settings)
    problems: list[Problem] = []
    for file in files:
        problems += _in_order(check_file(file, catalog, settings)[1])
    return judge(problems, _checked(files))


def validate_definitions(files: Sequence[Path], type: asl.MachineType, only_aws: bool) -> Answer:
    """Check the definition in each file, of plain ASL or of a workflow document; no skills."""
    problems: list[Problem] = []
    for file in files:
        problems += _in_order(_check_definition(file, type, only_aws))
    return judge(problems, _checked(files))


def _check_definition(file: Path, type: asl.MachineType, only_aws: bool) -> list[Problem]:
    text, unreadable = read_file(file)
    if unreadable is not None:
        return [unreadable]
    value, unclean = asl.read_json(text, str(file))
    if value is None and unclean:
        return unclean
    inside = isinstance(value, dict) and "asl" in value
    definition = value["asl"] if inside else value
    found = asl.validate(definition, type, only_aws=only_aws)
    if inside:
        below = [replace(one, path=f"/asl{one.path}") for one in found]
        found = list(dict.fromkeys([*validate(value), *below]))
    elif len(text) > asl.MAX_DEFINITION:
        found.append(asl.too_large(len(text)))
    return asl.with_others(unclean, asl.place(found, text, str(file)))


def _in_order(problems: list[Problem]) -> list[Problem]:
    """By place in the file."""
    return sorted(problems, key=lambda one: (one.line or 0, one.column or 0, one.path))


def _checked(files: Sequence[Path]) -> str:
    return f"{len(files)} file{'' if len(files) == 1 else 's'} checked"


def judge(problems: Sequence[Problem], done: str) -> Answer:
    """The verdict on ``problems``: with errors bad input, listed all; else ``done``."""
    errors = sum(problem.is_error for problem in problems)
    warnings = len(problems) - errors
    fields = {
        "errors": errors,
        "warnings": warnings,
        "problems": [problem.to_dict() for problem in problems],
    }
    listing = listed(problems)
    if not errors:
        counted = f"{done}: no errors, {warnings} warning{'' if warnings == 1 else 's'}"
        return Answer(fields, show=[*map(_plain, listing), counted], exit_code=OK)
    note = ErrorNote("bad_input", summary(problems), details=listing)
    return Answer(fields, status="error", error=note, exit_code=BAD_INPUT)


def _plain(text: str) -> object:
    from rich.text import Text

    return Text(text)
