"""The op ``test_state``: the request as AWS takes it, its stages and next state compared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conformance_builders import case

from dcf.conformance import judge, run_case
from dcf.conformance.pure import PureExecutor

TASK = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": "$.r"}
CATCHING = {**TASK, "Catch": [{"ErrorEquals": ["Busy"], "Next": "Sorry"}], "Next": "Ship"}


def outcome_of(definition: Any, status: str, **request: Any) -> tuple[bool, tuple[str, ...]]:
    """Whether it is exact, and what differs besides."""
    expected = {"status": status, **request.pop("expected", {})}
    wanted = case("test_state", definition=definition, expected=expected, **request)
    result = run_case(wanted, PureExecutor())
    return judge(wanted, result).exact, result.mismatches


def test_a_mocked_result_is_json_text_as_in_the_request_of_aws() -> None:
    exact = outcome_of(
        CATCHING,
        "SUCCEEDED",
        input={"id": 7},
        mock={"result": json.dumps({"Payload": 1})},
        inspectionLevel="TRACE",
        inspection={
            "input": {"id": 7},
            "afterInputPath": {"id": 7},
            "afterParameters": {"id": 7},
            "result": {"Payload": 1},
            "afterResultSelector": {"Payload": 1},
            "afterResultPath": {"id": "<any>", "r": {"Payload": 1}},
        },
        expected={"output": {"id": 7, "r": {"Payload": 1}}, "nextState": "Ship"},
    )
    assert exact == (True, ())


def test_a_mocked_error_is_caught() -> None:
    exact = outcome_of(
        CATCHING,
        "CAUGHT_ERROR",
        input={},
        mock={"errorOutput": {"error": "Busy", "cause": "later"}},
        expected={
            "output": {"Error": "Busy", "Cause": "later"},
            "error": "Busy",
            "cause": "later",
            "nextState": "Sorry",
        },
    )
    assert exact == (True, ())


def test_stages_and_a_next_state_that_differ_are_told() -> None:
    _, mismatches = outcome_of(
        {"Type": "Pass", "Next": "B"},
        "SUCCEEDED",
        input=1,
        inspectionLevel="DEBUG",
        inspection={"input": 2, "nonsense": 3},
        expected={"output": 1, "nextState": "C"},
    )
    assert "input is 1; recorded: 2" in mismatches
    assert "nonsense is missing; recorded: 3" in mismatches
    assert 'nextState is "B"; recorded: "C"' in mismatches


def test_tries_that_are_used_up_count() -> None:
    retrying = {**TASK, "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 1}], "End": True}
    error = {"errorOutput": {"error": "Busy"}}
    assert outcome_of(retrying, "RETRIABLE", mock=error, expected={"error": "Busy"})[0]
    used = {"retrierRetryCount": 1}
    failed = outcome_of(
        retrying, "FAILED", mock=error, stateConfiguration=used, expected={"error": "Busy"}
    )
    assert failed[0]


def test_a_test_that_makes_no_sense_is_rejected() -> None:
    machine = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
    wanted = case("test_state", definition=machine, stateName="Q", expected={"status": "REJECTED"})
    result = run_case(wanted, PureExecutor())
    assert (result.status, result.error) == ("REJECTED", "ValidationException")


def test_a_task_that_was_really_called_answers_what_was_seen_or_is_not_tried() -> None:
    seen = case(
        "test_state",
        definition=CATCHING,
        input={},
        inspection={"result": {"Payload": 5}},
        expected={"status": "SUCCEEDED", "output": {"r": {"Payload": 5}}},
    )
    assert judge(seen, run_case(seen, PureExecutor())).exact
    unseen = case("test_state", definition=CATCHING, expected={"status": "SUCCEEDED"})
    assert run_case(unseen, PureExecutor()).status == "SKIP"


WRONG = {"result": json.dumps({"StatusCode": "200"})}
START = {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution", "End": True}
PARTIAL = {"result": json.dumps({"ExecutionArn": "arn"})}


@pytest.mark.parametrize(
    ("definition", "request_", "status"),
    [
        (TASK | {"End": True}, {"mock": WRONG}, "REJECTED"),
        (TASK | {"End": True}, {"mock": WRONG | {"fieldValidationMode": "PRESENT"}}, "REJECTED"),
        (TASK | {"End": True}, {"mock": WRONG | {"fieldValidationMode": "NONE"}}, "SUCCEEDED"),
        (START, {"mock": PARTIAL}, "REJECTED"),
        (START, {"mock": PARTIAL | {"fieldValidationMode": "PRESENT"}}, "SUCCEEDED"),
        (START, {"mock": {"result": "no JSON"}}, "REJECTED"),
        (START, {"mock": PARTIAL | {"errorOutput": {"error": "E"}}}, "REJECTED"),
        (START, {"mock": {"errorOutput": {"error": "E"}}, "context": "no JSON"}, "REJECTED"),
        (START, {"mock": {"errorOutput": {"error": "E"}}, "context": "[]"}, "REJECTED"),
    ],
)
def test_a_request_is_checked_as_far_as_its_mode_says(
    definition: Any, request_: dict[str, Any], status: str
) -> None:
    wanted = case(
        "test_state", definition=definition, input={}, expected={"status": status}, **request_
    )

    assert run_case(wanted, PureExecutor()).status == status
