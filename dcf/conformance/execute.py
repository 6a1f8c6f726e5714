"""The op ``execute``: a whole execution."""

from __future__ import annotations

import json
import uuid
from typing import Any

from dcf.asl import DefinitionError, format_timestamp
from dcf.conformance.case import Case
from dcf.conformance.executor import Executor, Job
from dcf.conformance.recorded_tasks import RecordedTasks
from dcf.conformance.result import SKIP, Result

_ACCOUNT = "111111111111"
_STATES = f"arn:aws:states:us-east-1:{_ACCOUNT}"
_MACHINE = "machine"
_EXECUTION = "execution"
_STARTED_AT = 1_700_000_000.0
# The day AWS began to tell it in the context object.
_REDRIVE_COUNT_SINCE = "2023-11-15"
_STOPPED = "the execution was stopped from outside while it was recorded"


def execute(case: Case, executor: Executor) -> Result:
    """Run ``case`` and say how it ended. A definition that is refused ends INVALID."""
    if case.is_stopped_from_outside:
        return Result(case.name, SKIP, cause=_STOPPED)
    tasks = RecordedTasks(
        case.tasks, case.placeholders, calls_exact=case.request.get("calls_exact", True)
    )
    try:
        outcome = executor.execute(_job(case, tasks))
    except DefinitionError as refused:
        return Result(case.name, "INVALID", cause=str(refused))
    return Result(
        case.name,
        outcome.status,
        outcome.output if outcome.status == "SUCCEEDED" else None,
        outcome.error or None,
        outcome.cause or None,
        mismatches=tuple(tasks.mismatches),
    )


def _job(case: Case, tasks: RecordedTasks) -> Job:
    definition = case.definition
    if case.definition_text is not None:
        definition = json.loads(case.definition_text)
    assert isinstance(definition, dict), "only `create` and `validate` have other definitions"
    return Job(
        definition,
        case.input,
        tasks,
        context=_context(case),
        objects={name: text.encode() for name, text in case.objects.items()},
        started_at=_STARTED_AT,
    )


def _context(case: Case) -> dict[str, Any]:
    """``Execution`` and ``StateMachine`` with names as AWS gives them."""
    execution: dict[str, Any] = {
        "Id": f"{_STATES}:execution:{_MACHINE}:{_EXECUTION}",
        "Input": case.input,
        "Name": _EXECUTION,
        "RoleArn": f"arn:aws:iam::{_ACCOUNT}:role/{_MACHINE}",
        "StartTime": format_timestamp(_STARTED_AT),
    }
    if case.is_express:
        execution["Id"] = f"{_STATES}:express:{_MACHINE}:{_EXECUTION}:{uuid.UUID(int=1)}"
    elif str(case.request.get("last_validated", "~")) >= _REDRIVE_COUNT_SINCE:
        execution["RedriveCount"] = 0
    machine = {"Id": f"{_STATES}:stateMachine:{_MACHINE}", "Name": _MACHINE}
    return {"Execution": execution, "StateMachine": machine}
