"""What a test of one state refuses: mocks that do not fit, a context that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dcf.asl.errors import AslError
from dcf.asl.machine import StateMachine
from dcf.asl.payload import JSON, is_integer
from dcf.asl.state import MapState, State
from dcf.asl.trial.mock_shapes import shape_problem
from dcf.asl.trial.state_test_case import Configuration, MockedError, MockedResult

VALIDATION = "ValidationException"


class StateTestRefused(AslError):
    """The test itself makes no sense: ``error`` is AWS's name for it, ``cause`` says why."""

    def __init__(self, cause: str, error: str = VALIDATION) -> None:
        self.error = error
        self.cause = cause
        super().__init__(f"{error}: {cause}")


class StateNotFound(StateTestRefused):
    """There is no state called ``name``; ``names`` are those that there are."""

    def __init__(self, name: str, names: Iterable[str]) -> None:
        self.name = name
        self.names = tuple(names)
        super().__init__("State not found in definition")


def check_mock(
    state: State,
    mock: MockedResult | MockedError | None,
    configuration: Configuration,
    *,
    schema: bool = True,
    complete: bool = True,
) -> None:
    """Raises StateTestRefused when ``mock`` does not fit ``state``.

    With ``schema`` the result of a known service must have the shape of its answers, with
    ``complete`` all that these always have.
    """
    if mock is None:
        _refuse_without_mock(state)
        return
    if state.type not in ("Task", "Map", "Parallel"):
        raise StateTestRefused(
            f"State type '{state.type}' is not supported when a mock is specified"
        )
    child = configuration.error_caused_by_state
    if child is not None and not any(child == name for name in _names(state)):
        raise StateTestRefused(f"The state '{child}' that caused the error is not in this state")
    if isinstance(mock, MockedResult):
        _check_result(state, mock.result, configuration)
        problem = None
        if schema:
            problem = shape_problem(state.resource, mock.result, complete=complete)
        if problem is not None:
            raise StateTestRefused(f"Mock result schema validation error: {problem}")


def _refuse_without_mock(state: State) -> None:
    if state.type in ("Map", "Parallel"):
        cause = (
            "TestState API does not support Map or Parallel states. Supported state types include: "
            "[Task, Wait, Pass, Succeed, Fail, Choice]"
        )
        raise StateTestRefused(cause, "InvalidDefinition")
    if state.type == "Task":
        raise StateTestRefused("A mock must be specified when testing a Task state")


def _check_result(state: State, result: JSON, configuration: Configuration) -> None:
    if state.type == "Parallel":
        _check_array(result)
        if len(result) != len(state.branches):
            raise StateTestRefused(
                "Mocked result must contain the same number of items as number of Parallel "
                "branches."
            )
    if not isinstance(state, MapState):
        return
    if state.writer is not None and state.writer.arguments is not None:
        if not isinstance(result, dict):
            raise StateTestRefused("Mocked result must be a JSON object.")
        return
    _check_array(result)
    if (configuration.map_iteration_failure_count or 0) > len(result):
        cause = (
            "Map iteration failure count must be less than or equal to the number of Map iterations"
        )
        raise StateTestRefused(cause)


def _check_array(result: JSON) -> None:
    if not isinstance(result, list):
        raise StateTestRefused("Mocked result must be an array.")


def _names(state: State) -> Iterator[str]:
    machines = [*state.branches, *([state.processor] if state.processor is not None else [])]
    for machine in machines:
        yield from machine.states
        for inner in machine.states.values():
            yield from _names(inner)


_CONTEXT: dict[str, dict[str, str]] = {
    "Execution": {
        **dict.fromkeys(("Id", "Name", "RoleArn", "StartTime", "RedriveTime"), "string"),
        "Input": "JSON value",
        "RedriveCount": "number",
    },
    "State": {"EnteredTime": "string", "Name": "string", "RetryCount": "number"},
    "StateMachine": {"Id": "string", "Name": "string"},
    "Task": {"Token": "string"},
}
"""What a context object may have, and of what type."""


def check_context(context: Mapping[str, Any]) -> None:
    """Raises StateTestRefused unless ``context`` is a context object."""
    if not isinstance(context, Mapping):
        raise _bad_context("it must be an object")
    for field, value in context.items():
        if field == "Map":
            raise _bad_context("'Map' field is not supported when mocking a Context object")
        if field not in _CONTEXT:
            raise _bad_context(f"Field '{field}' is not allowed")
        if not isinstance(value, dict):
            raise _bad_context(f"{field} must be an object")
        for name, inner in value.items():
            if name not in _CONTEXT[field]:
                raise _bad_context(f"Field '{name}' is not allowed")
            kind = _CONTEXT[field][name]
            if (kind == "string" and not isinstance(inner, str)) or (
                kind == "number" and not is_integer(inner)
            ):
                raise _bad_context(f"{field}.{name} must be a {kind}")


def _bad_context(why: str) -> StateTestRefused:
    return StateTestRefused(f"Invalid Context object provided: {why}")


def find_state(machine: StateMachine, name: str) -> tuple[State, bool]:
    """The state called ``name``, nested machines included, and whether it stands inside a Map.

    Raises StateNotFound.
    """
    waiting = [(machine, False)]
    names: list[str] = []
    while waiting:
        here, in_map = waiting.pop()
        if name in here.states:
            return here.states[name], in_map
        names += here.states
        for state in here.states.values():
            waiting += [(branch, in_map) for branch in state.branches]
            if state.processor is not None:
                waiting.append((state.processor, True))
    raise StateNotFound(name, names)
