"""The mocks file of ``dcf asl run``: JSON or YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dcf import asl
from dcf.asl.trial import Mocks, MocksInvalid, read_mocks
from dcf.cli.input_source import read_file
from dcf.cli.trouble import BadInput
from dcf.problem import Problem

_YAML = (".yaml", ".yml")


def mocks_in(file: Path | None, machine: asl.StateMachine) -> Mocks:
    """The mocks in ``file`` for ``machine``; none without a file. Raises BadInput with every
    problem, each with its place."""
    if file is None:
        return Mocks({}, {})
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    value, place = (_yaml if file.suffix in _YAML else _json)(text, str(file))
    try:
        mocks = read_mocks(value, machine)
        unclean = place([])
        if unclean:
            raise BadInput(unclean)
        return mocks
    except MocksInvalid as invalid:
        raise BadInput(place(invalid.problems)) from invalid


_Place = Callable[[Iterable[Problem]], list[Problem]]


def _json(text: str, file: str) -> tuple[Any, _Place]:
    value, unclean = asl.read_json(text, file)
    if value is None and unclean:
        raise BadInput(unclean)
    return value, lambda found: asl.with_others(unclean, asl.place(found, text, file))


def _yaml(text: str, file: str) -> tuple[Any, _Place]:
    from dcf.skills import read_yaml

    document, problems = read_yaml(text, file)
    if document is None:
        raise BadInput(map(_of_mocks, problems))
    marks = document.marks

    def place(found: Iterable[Problem]) -> list[Problem]:
        placed = []
        for problem in found:
            line, column = marks.get(problem.path, (1, 1))
            placed.append(problem.at(file=file, line=line, column=column))
        return placed

    return document.value, place


def _of_mocks(problem: Problem) -> Problem:
    """A problem of the reader of YAML, which names it as one of a skill."""
    return replace(problem, code="ASL_MOCK_YAML")
