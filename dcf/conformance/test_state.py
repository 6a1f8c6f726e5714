"""The op ``test_state``: one state alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from dcf.asl import JSON, DefinitionError
from dcf.asl.trial import (
    Configuration,
    MockedError,
    MockedResult,
    StateTest,
    StateTestRefused,
    run_state,
)
from dcf.conformance.case import Case
from dcf.conformance.likeness import alike
from dcf.conformance.result import SKIP, Result

_CALLED = "the recording called a real service, and what that answered was not recorded"
_ROLE = "arn:aws:iam::111111111111:role/machine"
_MARK = re.compile(r"<[\w:-]+>")


def test_state(case: Case) -> Result:
    """What the state did. ``mismatches`` are stages of its data flow, and a next state, that are
    not as recorded. A test that makes no sense ends REJECTED."""
    request, definition = case.request, _definition(case)
    works = _type(definition, request.get("stateName")) in ("Task", "Map", "Parallel")
    mode = request.get("mock", {}).get("fieldValidationMode", "STRICT")
    try:
        mock = _mock(request, works)
        if works and mock is None and case.expected["status"] != "REJECTED":
            return Result(case.name, SKIP, cause=_CALLED)
        found = run_state(
            definition,
            case.input,
            state_name=request.get("stateName"),
            mock=mock,
            context=_context(request.get("context")),
            variables=request.get("variables"),
            configuration=_configuration(request.get("stateConfiguration", {})),
            level=request.get("inspectionLevel") or "INFO",
            role_arn=_ROLE if works else None,
            schema=mode != "NONE",
            complete=mode == "STRICT",
        )
    except StateTestRefused as refused:
        return Result(case.name, "REJECTED", error=refused.error, cause=refused.cause)
    except DefinitionError as refused:
        return Result(case.name, "REJECTED", error="InvalidDefinition", cause=str(refused))
    return Result(
        case.name,
        found.status,
        found.output,
        found.error,
        found.cause,
        mismatches=tuple(_mismatches(case, found)),
    )


def _definition(case: Case) -> Any:
    return case.definition if case.definition_text is None else json.loads(case.definition_text)


def _type(definition: Mapping[str, Any], name: str | None) -> str | None:
    """The type of the state under test; None where it stands deeper than the machine's own."""
    states = definition.get("States", {})
    state = definition if name is None and not states else states.get(name)
    return state.get("Type") if isinstance(state, dict) else None


def _mock(request: Mapping[str, Any], works: bool) -> MockedResult | MockedError | None:
    mock = request.get("mock", {})
    if "errorOutput" in mock and "result" in mock:
        raise StateTestRefused(
            "A test mock should have only one of the following fields: [result, errorOutput]."
        )
    if "errorOutput" in mock:
        return MockedError(mock["errorOutput"].get("error"), mock["errorOutput"].get("cause"))
    if "result" in mock:
        return MockedResult(_result(mock["result"]))
    # Without a mock the Task was really called, and where it can be seen what it answered:
    inspection = request.get("inspection", {})
    called = works and "result" in inspection
    return MockedResult(inspection["result"]) if called else None


def _configuration(given: Mapping[str, Any]) -> Configuration:
    items = given.get("mapItemReaderData")
    return Configuration(
        given.get("retrierRetryCount", 0),
        given.get("mapIterationFailureCount"),
        given.get("errorCausedByState"),
        items,
    )


def _mismatches(case: Case, found: StateTest) -> list[str]:
    expected: dict[str, JSON] = dict(case.request.get("inspection", {}))
    actual: dict[str, JSON] = dict(found.inspection)
    if "nextState" in case.expected:
        expected["nextState"], actual["nextState"] = case.expected["nextState"], found.next_state
    # The recording names its placeholders for the expectation; those of the stages look alike.
    marks = _MARK.findall(json.dumps(expected))
    told = []
    for name in sorted({*expected, *actual} if "inspection" in case.request else expected):
        want, got = expected.get(name), actual.get(name)
        if name not in actual:
            told.append(f"{name} is missing; recorded: {json.dumps(want)}")
        elif name not in expected:
            told.append(f"{name} is {json.dumps(got)}; recorded: nothing")
        elif not alike(want, got, (*case.placeholders, *marks)):
            told.append(f"{name} is {json.dumps(got)}; recorded: {json.dumps(want)}")
    return told


def _context(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise StateTestRefused("Invalid Context object provided: it is not JSON") from error


def _result(value: Any) -> Any:
    """A mocked result, which the request of AWS carries as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise StateTestRefused("Mocked result must be valid JSON.") from error
