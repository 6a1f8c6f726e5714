"""Running one state alone, as TestState of Step Functions does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from dcf.asl.context import execution_context, iteration_context
from dcf.asl.definition import parse
from dcf.asl.effect import (
    Effect,
    Failure,
    FanOut,
    ReadItems,
    RetryAfter,
    Transition,
    WaitFor,
    WaitUntil,
    WriteResults,
)
from dcf.asl.errors import EXCEED_TOLERATED_FAILURE
from dcf.asl.maps.item_format import ItemFormat
from dcf.asl.maps.map_steps import THRESHOLD_EXCEEDED
from dcf.asl.maps.tolerance import Tolerance
from dcf.asl.outcome import TROUBLE, recover
from dcf.asl.payload import JSON
from dcf.asl.scope import Scope
from dcf.asl.state import MapState, State
from dcf.asl.step import step
from dcf.asl.timestamp import format_timestamp
from dcf.asl.trial.state_test_case import Configuration, Level, MockedError, MockedResult, StateTest
from dcf.asl.trial.state_test_report import Trouble, inspect, report
from dcf.asl.trial.state_test_rules import check_context, check_mock, find_state
from dcf.asl.visit import (
    Entered,
    Event,
    ItemsRead,
    Joined,
    ResultsWritten,
    TaskSucceeded,
    TimerFired,
    Visit,
)

ALONE = "StateName"
"""The name of a state that is tested without a machine."""


def run_state(
    definition: Mapping[str, Any],
    input: JSON,
    *,
    state_name: str | None = None,
    mock: MockedResult | MockedError | None = None,
    context: Mapping[str, Any] | None = None,
    variables: Mapping[str, JSON] | None = None,
    configuration: Configuration = Configuration(),  # noqa: B008 - it is immutable
    level: Level = "INFO",
    role_arn: str | None = None,
    schema: bool = True,
    complete: bool = True,
    now: float = 0.0,
    rng: Random | None = None,
) -> StateTest:
    """Run one state on ``input``: ``definition`` itself, or ``state_name`` of the machine in it.

    Task, Map and Parallel need a ``mock`` of their work; a Wait does not wait. ``context`` is the
    whole context object; without it there is one as TestState makes it, at ``now`` (epoch
    seconds) with ``role_arn``, with a task token where the state waits for one, and inside of a
    Map as in its first iteration, with ``input`` as its item. ``variables`` are assigned before.
    ``inspection`` is filled at the levels DEBUG and TRACE. ``schema``: a mocked result of a known
    service is checked for its shape, and with ``complete`` for having what the service always
    answers.

    This signature is stable. Raises DefinitionError, and StateTestRefused when the test makes no
    sense. A state that fails does not raise.
    """
    rng = Random(0) if rng is None else rng
    state, in_map = _located(definition, state_name)
    if context is not None:
        check_context(context)
    check_mock(state, mock, configuration, schema=schema, complete=complete)
    used = configuration.retrier_retry_count
    retries = dict.fromkeys(range(len(state.retriers)), used) if used else {}
    seen = dict(context) if context is not None else _context(state, input, role_arn, now, rng)
    if context is None and in_map:
        seen = iteration_context(seen, 0, input)
    visit = Visit(input, seen, dict(variables or {}), retries)
    stages: dict[str, JSON] = {}
    effect = _run(state, visit, mock, configuration, rng, stages)
    problem = stages.pop(TROUBLE, None)
    found = report(effect, problem)
    if level == "INFO":
        return found
    return replace(found, inspection=inspect(state, visit, stages, found, effect, problem))


def read_state(definition: Mapping[str, Any], state_name: str | None = None) -> State:
    """The state to test: ``definition`` itself, ``state_name`` of the machine in it, or its first.

    Raises DefinitionError, and StateNotFound.
    """
    return _located(definition, state_name)[0]


def _located(definition: Mapping[str, Any], state_name: str | None) -> tuple[State, bool]:
    """The state to test, and whether it stands inside a Map of its machine."""
    if state_name is not None or not isinstance(definition, Mapping):
        return find_state(parse(definition), state_name or "")
    if "States" in definition and "Type" not in definition:
        machine = parse(definition)
        return machine.states[machine.start_at], False
    states: dict[str, Any] = {ALONE: dict(definition)}
    for target in _targets(definition):
        states.setdefault(target, {"Type": "Succeed"})
    return parse({"StartAt": ALONE, "States": states}).states[ALONE], False


def _targets(state: Mapping[str, Any]) -> list[str]:
    """The states that ``state`` may go to, so that it can be read without its machine."""
    rules = [rule for field in ("Choices", "Catch") for rule in _list(state.get(field))]
    named = [state.get("Next"), state.get("Default")]
    named += [rule.get("Next") for rule in rules if isinstance(rule, Mapping)]
    return [name for name in named if isinstance(name, str) and name]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _context(
    state: State, input: JSON, role_arn: str | None, now: float, rng: Random
) -> dict[str, Any]:
    made = execution_context(input, "TestState", now, rng)
    name = made["Execution"]["Name"]
    arn = "arn:aws:states:us-east-1:111111111111"
    execution = {**made["Execution"], "Id": f"{arn}:express:TestState:{name}", "RoleArn": role_arn}
    del execution["RedriveCount"]
    seen: dict[str, Any] = {"Name": ALONE, "EnteredTime": format_timestamp(now)}
    if state.type in ("Task", "Map", "Parallel"):
        seen["RetryCount"] = 0
    made = {
        "Execution": execution,
        "StateMachine": {"Id": f"{arn}:stateMachine:TestState", "Name": "TestState"},
        "State": seen,
    }
    if state.type == "Task" and (state.resource or "").endswith(".waitForTaskToken"):
        made["Task"] = {"Token": f"{rng.getrandbits(256):064x}"}
    return made


def _run(
    state: State,
    visit: Visit,
    mock: MockedResult | MockedError | None,
    configuration: Configuration,
    rng: Random,
    stages: dict[str, JSON],
) -> Effect:
    """How the visit ends."""
    effect = step(state, visit, Entered(), rng, stages=stages)
    if isinstance(effect, (WaitFor, WaitUntil)):
        effect = step(state, visit, TimerFired(), rng, stages=stages)
    if mock is None or isinstance(effect, (Failure, RetryAfter, Transition)):
        return effect
    if isinstance(state, MapState) and isinstance(effect, ReadItems):
        effect = _read(state, visit, configuration.map_item_reader_data or [], rng, stages)
        if not isinstance(effect, FanOut):
            return effect
    problem = _problem(state, mock, configuration, stages)
    if problem is not None:
        scope = Scope(visit.input, visit.context, visit.variables, rng, "mock")
        scope.stages = stages
        return recover(state, visit, scope, *problem)
    assert isinstance(mock, MockedResult)
    return step(state, visit, _answer(state, mock.result), rng, stages=stages)


def _read(
    state: MapState, visit: Visit, data: list[JSON] | str, rng: Random, stages: dict[str, JSON]
) -> Effect:
    """The next effect of the Map after its reader found ``data``, of which it takes MaxItems."""
    assert state.reader is not None
    is_text = isinstance(data, str)
    form = state.reader.format if is_text and not state.reader.lists else None
    reader = replace(state.reader, lists=False, manifest=None, format=form or ItemFormat("JSON"))
    text = data if isinstance(data, str) else json.dumps(data)
    found = ItemsRead(ReadItems(()), (text.encode(),))
    return step(replace(state, reader=reader), visit, found, rng, stages=stages)


def _answer(state: State, result: JSON) -> Event:
    if state.type == "Task":
        return TaskSucceeded(result)
    if isinstance(state, MapState) and isinstance(result, dict):
        return ResultsWritten(WriteResults("", {}, result))
    return Joined(result)


def _problem(
    state: State,
    mock: MockedResult | MockedError,
    configuration: Configuration,
    stages: dict[str, JSON],
) -> Trouble | None:
    if isinstance(mock, MockedError):
        return mock.error, mock.cause
    failed = configuration.map_iteration_failure_count or 0
    if not isinstance(state, MapState) or not isinstance(mock.result, list):
        return None
    tolerance = Tolerance(
        stages.get("toleratedFailureCount"), stages.get("toleratedFailurePercentage")
    )
    # Where the Map says nothing, TestState lets any number fail.
    if tolerance.is_said and failed > tolerance.iterations(_sizes(mock.result, stages)):
        return EXCEED_TOLERATED_FAILURE, THRESHOLD_EXCEEDED
    return None


def _sizes(results: list[JSON], stages: dict[str, JSON]) -> list[int]:
    """How many items each of the iterations has that gave ``results``."""
    batches = stages.get("afterItemBatcher") or []
    sizes = [len(batch["Items"]) for batch in batches]
    # A mock may speak of more iterations, or fewer, than the input makes.
    return sizes if len(sizes) == len(results) else [1] * len(results)
