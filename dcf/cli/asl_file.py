"""A machine in a file: plain ASL, or the ASL of a workflow document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcf import asl
from dcf.cli.input_source import read_file
from dcf.cli.trouble import BadInput
from dcf.problem import Problem, has_errors
from dcf.workflow import WorkflowDocument


@dataclass(frozen=True, slots=True)
class MachineFile:
    """``name`` is the workflow's, or the file's; ``warnings`` are placed in the file. ``workflow``
    is None of plain ASL, which declares no inputs."""

    name: str
    definition: dict[str, Any]
    machine: asl.StateMachine
    warnings: tuple[Problem, ...]
    workflow: WorkflowDocument | None


def read_machine(file: Path) -> MachineFile:
    """The machine in ``file``. Raises BadInput with every problem, each with its place."""
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    value, unclean = asl.read_json(text, str(file))
    if value is None and unclean:
        raise BadInput(unclean)
    enveloped = isinstance(value, dict) and isinstance(value.get("asl"), dict)
    definition = value["asl"] if enveloped else value
    found = asl.validate(definition)
    if enveloped:
        found = [_below_asl(problem) for problem in found]
    elif len(text) > asl.MAX_DEFINITION:
        found.append(asl.too_large(len(text)))
    placed = asl.with_others(unclean, asl.place(found, text, str(file)))
    if has_errors(placed):
        raise BadInput(placed)
    name = str(value.get("workflow_name") or name_of(file)) if enveloped else name_of(file)
    machine = asl.parse(definition)
    workflow = WorkflowDocument(name, value, machine) if enveloped else None
    return MachineFile(name, definition, machine, tuple(placed), workflow)


def name_of(file: Path) -> str:
    """What the machine in ``file`` is called: ``order`` for ``order.asl.json``."""
    return file.stem.removesuffix(".asl") or file.stem


def _below_asl(problem: Problem) -> Problem:
    return Problem(
        problem.code, problem.message, f"/asl{problem.path}", problem.hint, problem.severity
    )
