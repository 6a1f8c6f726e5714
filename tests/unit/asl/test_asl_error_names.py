"""Names in ``ErrorEquals`` that nothing raises."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import closest_hint, validate
from dcf.asl.checks.known_names import ERROR_NAMES
from dcf.asl.reading.fields import STATE_FIELDS

LAMBDA = "arn:aws:states:::lambda:invoke"


def retrying(name: str, **fields: Any) -> dict[str, Any]:
    retrier = {"ErrorEquals": [name], **fields}
    return machine_of(A={"Type": "Task", "Resource": LAMBDA, "Retry": [retrier], "End": True})


def test_a_misspelt_name_is_a_warning_with_the_one_that_was_meant() -> None:
    [problem] = validate(retrying("States.Timout"))

    assert (problem.code, problem.severity) == ("ASL_UNKNOWN_ERROR_NAME", "warning")
    assert problem.path == "/States/A/Retry/0/ErrorEquals/0"
    assert problem.hint == "did you mean `States.Timeout`?"


def test_catchers_and_inner_machines_are_looked_at_too() -> None:
    inner = {"Type": "Task", "Resource": LAMBDA, "End": True}
    inner["Catch"] = [{"ErrorEquals": ["Busy", "States.TaskFail"], "Next": "C"}]
    branch = machine_of(B=inner, C={"Type": "Succeed"})
    found = validate(machine_of(A={"Type": "Parallel", "Branches": [branch], "End": True}))

    assert [(p.code, p.path) for p in found] == [
        ("ASL_UNKNOWN_ERROR_NAME", "/States/A/Branches/0/States/B/Catch/0/ErrorEquals/1")
    ]


@pytest.mark.parametrize(
    "name",
    [
        "States.ALL",
        "States.TaskFailed",
        "States.Permissions",
        "States.BranchFailed",
        "States.QueryEvaluationError",
        "States.Http.StatusCode.404",
        "Lambda.Timout",
        "Timout",
    ],
)
def test_names_of_the_language_and_of_tasks(name: str) -> None:
    assert validate(retrying(name)) == []


def test_a_name_that_a_fail_state_raises() -> None:
    branch = machine_of(B={"Type": "Fail", "Error": "States.QuorumMet"})
    catcher = {"ErrorEquals": ["States.QuorumMet"], "Next": "Z"}
    parallel = {"Type": "Parallel", "Branches": [branch], "Catch": [catcher], "Next": "Z"}

    assert validate(machine_of(A=parallel, Z={"Type": "Succeed"})) == []


@pytest.mark.parametrize("names", [3, [3], None, {}])
def test_names_that_are_no_names_are_left_to_others(names: Any) -> None:
    definition = retrying("x", ErrorEquals=names)

    assert all(p.code != "ASL_UNKNOWN_ERROR_NAME" for p in validate(definition))


def test_an_interval_of_nothing_is_no_slip() -> None:
    assert validate(retrying("States.Timeout", IntervalSeconds=0)) == []


@pytest.mark.parametrize(
    ("written", "known", "meant"),
    [
        ("Retries", STATE_FIELDS["Task"], "Retry"),
        ("resource", STATE_FIELDS["Task"], "Resource"),
        ("Timeout", STATE_FIELDS["Task"], "TimeoutSeconds"),
        ("Branch", STATE_FIELDS["Parallel"], "Branches"),
        ("Netx", STATE_FIELDS["Task"], "Next"),
        ("States.timeout", ERROR_NAMES, "States.Timeout"),
        ("Path", STATE_FIELDS["Task"], None),
        ("ResultWriter", STATE_FIELDS["Task"], None),
        ("Result", STATE_FIELDS["Choice"], None),
        ("Timeout", STATE_FIELDS["Wait"], None),
        ("States.Foo", ERROR_NAMES, None),
        ("States.Retry", ERROR_NAMES, None),
    ],
)
def test_only_what_is_near_is_suggested(
    written: str, known: frozenset[str], meant: str | None
) -> None:
    hint = closest_hint(written, known)
    assert hint == f"did you mean `{meant}`?" if meant else hint.startswith("known here: ")
