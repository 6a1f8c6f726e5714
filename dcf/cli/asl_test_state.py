"""``dcf asl test-state``: one state alone, its work mocked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from dcf import asl
from dcf.asl import closest_hint
from dcf.asl.trial import (
    ALONE,
    Configuration,
    StateNotFound,
    StateTest,
    StateTestRefused,
    read_state,
    run_state,
)
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, OK
from dcf.cli.input_source import read_file
from dcf.cli.state_test_options import read_options
from dcf.cli.trouble import BadInput
from dcf.problem import Problem

# In the order in which a state goes through them.
_STAGES = (
    "input",
    "afterInputPath",
    "afterParameters",
    "afterArguments",
    "afterItemsPath",
    "afterItemSelector",
    "afterItemBatcher",
    "maxConcurrency",
    "toleratedFailureCount",
    "toleratedFailurePercentage",
    "result",
    "afterResultSelector",
    "afterResultPath",
    "variables",
    "errorDetails",
)


@dataclass(frozen=True, slots=True)
class StateTestOptions:
    """What was asked for; each value as given on the command line."""

    state: str | None
    input: str | None
    context: str | None
    variables: str | None
    result: str | None
    error: str | None
    cause: str | None
    retries: int
    failed_iterations: int | None
    items: str | None
    level: Literal["info", "debug", "trace"]
    schema: bool


@dataclass(frozen=True, slots=True)
class _Source:
    """``prefix`` is the pointer where the definition stands in the text of its file."""

    definition: dict[str, Any]
    text: str
    file: str
    prefix: str


def test_state(file: Path, options: StateTestOptions) -> Answer:
    """Run one state of the definition in ``file``."""
    given = read_options(
        input=options.input,
        context=options.context,
        variables=options.variables,
        items=options.items,
        result=options.result,
        error=options.error,
        cause=options.cause,
    )
    source = _definition(file, given.problems)
    definition = source.definition
    if options.state is not None and "Type" in definition and "States" not in definition:
        raise _bad("the file is one state", "leave out --state", str(file))
    configuration = Configuration(
        retrier_retry_count=options.retries,
        map_iteration_failure_count=options.failed_iterations,
        map_item_reader_data=given.items,
    )
    try:
        found = run_state(
            definition,
            given.input,
            state_name=options.state,
            mock=given.mock,
            context=given.context,
            variables=given.variables,
            configuration=configuration,
            level="DEBUG"
            if options.level == "debug"
            else "TRACE"
            if options.level == "trace"
            else "INFO",
            schema=options.schema,
        )
    except asl.DefinitionError as refused:
        raise BadInput(_placed(refused.problems, source)) from refused
    except StateNotFound as missing:
        message = f"there is no state `{missing.name}`"
        raise _bad(message, closest_hint(missing.name, missing.names), str(file)) from missing
    except StateTestRefused as refused:
        raise _bad(refused.cause, _hint(refused, options), str(file)) from refused
    return _answer(found)


def _definition(file: Path, others: Sequence[Problem]) -> _Source:
    """The machine or state in ``file``. Raises BadInput, with ``others`` too, when there is none,
    or when there are others."""
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable, *others])
    value, unclean = asl.read_json(text, str(file))
    if value is None and unclean:
        raise BadInput([*unclean, *others])
    enveloped = isinstance(value, dict) and isinstance(value.get("asl"), dict)
    definition = value["asl"] if enveloped else value
    if not isinstance(definition, dict):
        hint = 'write {"Type": "Pass", …} or a whole machine'
        problem = Problem("CLI_STATE_TEST", "a state is a JSON object", hint=hint, file=str(file))
        raise BadInput([*unclean, problem, *others])
    if not enveloped and len(text) > asl.MAX_DEFINITION:
        raise BadInput([*unclean, asl.too_large(len(text)).at(file=str(file)), *others])
    source = _Source(definition, text, str(file), "/asl" if enveloped else "")
    if unclean or others:
        try:
            read_state(definition)
        except asl.DefinitionError as refused:
            raise BadInput(
                [*asl.with_others(unclean, _placed(refused.problems, source)), *others]
            ) from refused
        raise BadInput([*unclean, *others])
    return source


def _placed(problems: Sequence[Problem], source: _Source) -> list[Problem]:
    """``problems`` where they stand in the file: a state alone was checked inside a machine."""
    alone = f"/States/{ALONE}"
    moved = [
        Problem(p.code, p.message, source.prefix + p.path.removeprefix(alone), p.hint, p.severity)
        for p in problems
    ]
    return asl.place(moved, source.text, source.file)


def _hint(refused: StateTestRefused, options: StateTestOptions) -> str:
    """What to change on the command line; the cause is AWS's, and knows nothing of it."""
    if options.result is None and options.error is None:
        mend = "mock its work with --result or --error"
        return mend if "Context" not in refused.cause else "mend --context, or leave it out"
    if "Context" in refused.cause:
        return "mend --context, or leave it out"
    if "schema" in refused.cause:
        return "give what the service answers as --result, or --no-schema to take anything"
    if "not supported" in refused.cause:
        return "leave out --result and --error: only Task, Map and Parallel have work to mock"
    return "give another --result"


def _bad(message: str, hint: str, place: str) -> BadInput:
    return BadInput([Problem("CLI_STATE_TEST", message, hint=hint, file=place)])


def _answer(found: StateTest) -> Answer:
    fields: dict[str, Any] = {
        "test": {
            "status": found.status,
            "output": found.output,
            "error": found.error,
            "cause": found.cause,
            "next_state": found.next_state,
            "retry_after_s": found.retry_after_s,
            "assigned": found.assigned,
            "inspection": found.inspection,
        }
    }
    show: list[Any] = [_stages(found.inspection)] if found.inspection else []
    show.append(_verdict(found))
    if found.status in ("SUCCEEDED", "CAUGHT_ERROR"):
        show.append(json.dumps(found.output, ensure_ascii=False, indent=2))
        return Answer(fields, show, exit_code=OK)
    told = ": ".join(part for part in (found.error, found.cause) if part) or found.status
    note = ErrorNote("state_failed", f"the state ended {found.status}: {told}")
    return Answer(fields, show, status="failed", error=note, exit_code=FAILED)


def _stages(inspection: dict[str, Any]) -> Table:
    table = Table(title="Data flow", title_justify="left")
    table.add_column("stage", no_wrap=True)
    table.add_column("value", overflow="fold")
    later = [name for name in inspection if name not in _STAGES]
    for name in (*_STAGES, *later):
        if name in inspection:
            table.add_row(name, Text(json.dumps(inspection[name], ensure_ascii=False)))
    return table


def _verdict(found: StateTest) -> str:
    if found.status == "RETRIABLE":
        return f"RETRIABLE: tried again after {found.retry_after_s:g} s"
    parts: list[str] = [found.status]
    if found.status == "CAUGHT_ERROR":
        parts.append(f"caught {found.error}")
    if found.status != "FAILED":
        parts.append(f"next: {found.next_state}" if found.next_state else "the machine ends")
    if found.assigned:
        parts.append(f"assigned: {json.dumps(found.assigned, ensure_ascii=False)}")
    return ", ".join(parts)
