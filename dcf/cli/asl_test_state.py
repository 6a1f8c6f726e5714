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
from dcf.asl.trial.state_test import ALONE, run_state
from dcf.asl.trial.state_test_case import Configuration, MockedError, MockedResult, StateTest
from dcf.asl.trial.state_test_rules import StateTestRefused
from dcf.cli.answer import Answer, ErrorNote
from dcf.cli.exits import FAILED, OK
from dcf.cli.input_source import read_file, read_input
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
class Wish:
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


def test_state(file: Path, wish: Wish) -> Answer:
    """Run one state of the definition in ``file``."""
    definition, text, prefix = _definition(file)
    if wish.result is not None and wish.error is not None:
        raise _bad("--result and --error exclude each other", "mock one of them", "--result")
    configuration = Configuration(
        retrier_retry_count=wish.retries,
        map_iteration_failure_count=wish.failed_iterations,
        map_item_reader_data=_value("--items", wish.items, list),
    )
    try:
        found = run_state(
            definition,
            _value("--input", wish.input or "{}"),
            state_name=wish.state,
            mock=_mock(wish),
            context=_value("--context", wish.context, dict),
            variables=_value("--variables", wish.variables, dict),
            configuration=configuration,
            level="DEBUG"
            if wish.level == "debug"
            else "TRACE"
            if wish.level == "trace"
            else "INFO",
            schema=wish.schema,
        )
    except asl.DefinitionError as refused:
        raise BadInput(_placed(refused.problems, text, str(file), prefix)) from refused
    except StateTestRefused as refused:
        hint = "mock its work with --result or --error; --no-schema takes any result"
        raise _bad(refused.cause, hint, str(file)) from refused
    return _answer(found)


def _definition(file: Path) -> tuple[dict[str, Any], str, str]:
    """The machine or state in ``file``, its text, and the pointer where it stands in the text."""
    text, unreadable = read_file(file)
    if unreadable is not None:
        raise BadInput([unreadable])
    value, problems = asl.read_json(text, str(file))
    if problems:
        raise BadInput(problems)
    if isinstance(value, dict) and isinstance(value.get("asl"), dict):
        return value["asl"], text, "/asl"
    if not isinstance(value, dict):
        hint = 'write {"Type": "Pass", …} or a whole machine'
        raise _bad("a state is a JSON object", hint, str(file))
    return value, text, ""


def _placed(problems: Sequence[Problem], text: str, file: str, prefix: str) -> list[Problem]:
    """``problems`` where they stand in the file: a state alone was checked inside a machine."""
    alone = f"/States/{ALONE}"
    moved = [
        Problem(p.code, p.message, prefix + p.path.removeprefix(alone), p.hint, p.severity)
        for p in problems
    ]
    return asl.place(moved, text, file)


def _value(option: str, given: str | None, kind: type | None = None) -> Any:
    """The JSON that ``option`` gives, in a file or as it is; None without."""
    if given is None:
        return None
    read = read_input(given)
    if read.problems:
        raise BadInput(read.problems)
    if kind is not None and not isinstance(read.value, kind):
        wanted = "an array" if kind is list else "an object"
        raise _bad(f"{option} must be {wanted}", "give JSON, or a file with it", option)
    return read.value


def _mock(wish: Wish) -> MockedResult | MockedError | None:
    if wish.error is not None:
        return MockedError(wish.error, wish.cause)
    return None if wish.result is None else MockedResult(_value("--result", wish.result))


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
