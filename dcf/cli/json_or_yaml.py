"""A file that is JSON, or YAML by its suffix, with the places of what stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf import asl
from dcf.cli.input_source import is_json, read_file
from dcf.cli.trouble import BadInput
from dcf.problem import Problem

_YAML = (".yaml", ".yml")
Place = Callable[[Iterable[Problem]], list[Problem]]
"""Problems of a value, placed in its file; behind those that are known of the file itself."""


def read_json_or_yaml(file: Path, yaml_code: str) -> tuple[Any, Place]:
    """The value in ``file``. ``yaml_code`` is what problems of YAML are called. Raises BadInput
    where there is none."""
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    if file.suffix in _YAML:
        return _yaml(text, str(file), yaml_code)
    return _json(text, str(file))


def given_json_or_yaml(given: str, option: str, yaml_code: str) -> tuple[Any, Place]:
    """The value in the file that ``given`` names, or that it is itself, as JSON; so is the input
    of a run given. Raises BadInput where there is none."""
    if is_json(given):
        return _json(given, option)
    return read_json_or_yaml(Path(given), yaml_code)


def _json(text: str, file: str) -> tuple[Any, Place]:
    value, unclean = asl.read_json(text, file)
    if value is None and unclean:
        raise BadInput(unclean)
    return value, lambda found: asl.with_others(unclean, asl.place(found, text, file))


def _yaml(text: str, file: str, code: str) -> tuple[Any, Place]:
    from dcf.skills import read_yaml

    document, problems = read_yaml(text, file)
    if document is None:
        raise BadInput(replace(problem, code=code) for problem in problems)
    marks = document.marks

    def place(found: Iterable[Problem]) -> list[Problem]:
        placed = []
        for problem in found:
            line, column = marks.get(problem.path, (1, 1))
            placed.append(problem.at(file=file, line=line, column=column))
        return placed

    return document.value, place
