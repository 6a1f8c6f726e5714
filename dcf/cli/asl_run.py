"""``dcf asl run``: a machine on a virtual clock, its Tasks mocked."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from dcf import asl
from dcf.asl.trial import MockTrouble, read_mocks
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.asl_file import read_machine
from dcf.cli.asl_trace import lasted, trace_json, trace_table
from dcf.cli.exits import FAILED, OK
from dcf.cli.failure_hint import trial_hint
from dcf.cli.input_source import read_input
from dcf.cli.mocks_input import assumed_answers, mocks_value, place_of_mocks
from dcf.cli.screen import Screen
from dcf.cli.trouble import BadInput
from dcf.problem import Problem
from dcf.workflow import LocalObjects, blank_warning


@dataclass(frozen=True, slots=True)
class MachineRunOptions:
    """What was asked for. ``start`` is when virtual time begins (RFC 3339; None: now)."""

    input: str | None
    mocks: str | None
    objects: Path | None
    start: str | None
    seed: int
    trace: Literal["table", "json", "none"]
    aws_limits: bool


def run_machine(file: Path, options: MachineRunOptions, screen: Screen) -> Answer:
    """Run the machine in ``file`` to its end. What is doubtful about it is told on stderr. Raises
    BadInput, also for an input that is none of those that a workflow declares."""
    source = read_machine(file)
    for warning in source.warnings:
        screen.warn(str(warning))
    given = read_input(options.input)
    if given.problems:
        raise BadInput(given.problems)
    if source.workflow and (unfit := source.workflow.check_input(given.value)):
        raise BadInput(given.place(unfit))
    doubts = [*source.warnings]
    if source.workflow and (blank := blank_warning(source.workflow, given.value)):
        doubts.append(blank)
        screen.warn(str(blank))
    value = mocks_value(options.mocks, source.machine)
    for assumed in assumed_answers(value, source.machine):
        screen.warn(assumed)
    began = _start(options.start)
    clock = asl.VirtualClock(began)
    try:
        end = asl.interpret(
            source.machine,
            given.value,
            call_task=read_mocks(value, source.machine),
            clock=clock,
            rng=Random(options.seed),
            name=source.name,
            aws_limits=options.aws_limits,
            objects=_objects(options.objects),
        )
    except MockTrouble as trouble:
        place = place_of_mocks(options.mocks) or str(file)
        problem = Problem(trouble.code, trouble.message, hint=trouble.hint, file=place)
        raise BadInput([problem]) from trouble
    return _answer(doubts, end, options, began, clock.now)


def _start(given: str | None) -> float:
    if given is None:
        return time.time()
    began = asl.parse_timestamp(given)
    if began is None:
        message, hint = f"{given!r} is no time of RFC 3339", "write 2026-01-31T12:00:00Z"
        raise BadInput([Problem("CLI_START", message, hint=hint, file="--start")])
    return began


def _objects(folder: Path | None) -> LocalObjects | None:
    if folder is None:
        return None
    if folder.is_dir():
        return LocalObjects(folder)
    hint = "give a folder whose folders are the buckets"
    problem = Problem("CLI_FILE", "there is no such folder", hint=hint, file=str(folder))
    raise BadInput([problem])


def _answer(
    doubts: Sequence[Problem],
    end: asl.Execution,
    options: MachineRunOptions,
    began: float,
    ended: float,
) -> Answer:
    succeeded = end.status == "SUCCEEDED"
    fields: dict[str, Any] = {
        "execution": {
            "status": end.status,
            "output": end.output if succeeded else None,
            "error": end.error or None,
            "cause": end.cause or None,
        },
        "started_at": asl.format_timestamp(began),
        "virtual_s": round(ended - began, 3),
        "warnings": [warning.to_dict() for warning in doubts],
    }
    if options.trace != "none":
        fields["trace"] = trace_json(end.trace)
    show: list[Any] = trace_table(end.trace, began) if options.trace == "table" else []
    show.append(f"{end.status} after {lasted(ended - began)} of virtual time")
    if succeeded:
        show.append(json.dumps(end.output, ensure_ascii=False, indent=2))
    note = None if succeeded else _failure(end, options)
    return Answer(
        fields,
        show,
        status="ok" if succeeded else "failed",
        error=note,
        exit_code=OK if succeeded else FAILED,
        as_data=options.trace == "json",
    )


def _failure(end: asl.Execution, options: MachineRunOptions) -> ErrorNote:
    told = ": ".join(part for part in (end.error, end.cause) if part) or end.status
    what = f"the execution ended {end.status}: {told}"
    return ErrorNote("execution_failed", what, trial_hint(end.error, options.objects))
