"""A definition judged as AWS judges it, in AWS's words."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import diagnostics, rejection

_END = {"Type": "Pass", "End": True}
OK = machine_of(A=_END)


def said(definition: dict[str, Any] | str, **how: Any) -> list[tuple[str, str, str]]:
    return [(one.code, one.message, one.location) for one in diagnostics(definition, **how)]


def test_a_good_definition_is_not_rejected() -> None:
    assert rejection(OK) is None
    assert said(OK) == []


def test_the_cause_has_code_message_and_place() -> None:
    definition = machine_of(A={"Type": "Choice", "Choices": [], "Default": "B"}, B=_END)

    refused = rejection(definition)

    assert refused is not None
    assert (refused.status, refused.error) == ("INVALID", "InvalidDefinition")
    assert refused.cause == (
        "Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: Value cannot be empty"
        " at /States/A/Choices'"
    )
    assert refused.client_text.endswith(refused.cause)


def test_the_causes_of_several_errors_stand_in_one_line() -> None:
    definition = machine_of(A={"Type": "Pass", "Next": "C"}, B={"Type": "Pass", "End": True})

    refused = rejection(definition)

    assert refused is not None
    assert refused.cause == (
        "Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Missing 'Next' target: C"
        ' at /States/A/Next, MISSING_TRANSITION_TARGET: State "B" is not reachable. at /States/B\''
    )


def test_an_error_without_a_place_is_at_null() -> None:
    refused = rejection(machine_of(A={"Type": "Pass", "Next": "A"}))

    assert refused is not None
    assert "'MISSING_END_STATE: Workflow has no terminal state at null'" in refused.cause


def test_fields_that_miss_are_named_together() -> None:
    assert said({}) == [
        ("SCHEMA_VALIDATION_FAILED", "These fields are required: [States, StartAt]", "/")
    ]


def test_places_in_arrays_are_written_in_brackets() -> None:
    resource = "arn:aws:states:::lambda:invoke"
    task = {"Type": "Task", "Resource": resource, "Retry": [{}], "End": True}

    message = "These fields are required: [ErrorEquals]"
    place = "/States/A~b/Retry[0]"
    assert said(machine_of(**{"A~b": task})) == [("SCHEMA_VALIDATION_FAILED", message, place)]


@pytest.mark.parametrize("text", [" ", "[]", "3", '"text"'])
def test_a_definition_is_an_object(text: str) -> None:
    message = "Definition must be a valid JSON object"
    assert said(text) == [("SCHEMA_VALIDATION_FAILED", message, "")]


def test_a_mistake_in_json_is_told_with_line_and_column() -> None:
    [(code, message, place)] = said('{\n "StartAt": nope }')

    assert code == "INVALID_JSON_DESCRIPTION"
    assert message.startswith("Unrecognized token 'nope': was expecting (JSON String, Number,")
    assert place.endswith("; line: 2, column: 17]")


def test_warnings_that_aws_gives_too_do_not_reject() -> None:
    definition = machine_of(A={"Type": "Pass", "Parameters": {"id": "$.id"}, "End": True})

    assert rejection(definition) is None
    assert [(one.code, one.severity) for one in diagnostics(definition)] == [
        ("NO_DOLLAR", "WARNING")
    ]


def test_an_express_machine_is_judged_as_one() -> None:
    task = {"Type": "Task", "Resource": "arn:aws:states:::glue:startJobRun.sync", "End": True}

    refused = rejection(machine_of(A=task), "EXPRESS")

    assert refused is not None
    assert (
        "Express state machine does not support '.sync' service integration at /States/A/Resource"
        in refused.cause
    )
