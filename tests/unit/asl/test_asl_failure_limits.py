"""Error names and causes have limits: those of SendTaskFailure of AWS Step Functions.

https://docs.aws.amazon.com/step-functions/latest/apireference/API_TaskFailedEventDetails.html:
``error`` has at most 256 characters, ``cause`` at most 32,768.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from dcf import asl

ERROR, CAUSE = 256, 32_768
LONG = "E" * 300
CATCH = [{"ErrorEquals": [LONG], "Next": "B"}]


def is_full(text: str, most: int) -> bool:
    """Whether ``text`` is no longer than it may be, nor much shorter."""
    return most - 10 < len(text) <= most


def step(state: dict[str, Any], event: Any, value: Any = None, **language: str) -> Any:
    states = {"A": state} | ({"B": {"Type": "Succeed"}} if "Catch" in state else {})
    machine = asl.parse({"StartAt": "A", "States": states, **language})
    return asl.step(machine.states["A"], asl.Visit(value, {}, {}), event)


def a_task(**fields: Any) -> dict[str, Any]:
    return {"Type": "Task", "Resource": "work", "End": True, **fields}


@pytest.mark.parametrize("kind", [asl.TaskFailed, asl.ChildFailed, asl.ResultRefused, asl.Failure])
@pytest.mark.parametrize("letter", ["x", "ä", "\U0001f600"])
def test_what_is_longer_is_cut_and_says_how_much_of_it(kind: Any, letter: str) -> None:
    cut = kind(letter * (ERROR + 50), letter * 20_000_000)
    assert is_full(cut.error, ERROR) and is_full(cut.cause, CAUSE)
    digest = hashlib.sha256((letter * (ERROR + 50)).encode()).hexdigest()[:16]
    for text, whole, also in (
        (cut.error, ERROR + 50, f", sha256 {digest}"),
        (cut.cause, 20_000_000, ""),
    ):
        kept, mark = text.split("…")
        assert kept == letter * len(kept)
        assert mark == f" [{whole - len(kept):,} characters cut{also}]"
        text.encode()


@pytest.mark.parametrize(("error", "cause"), [("e" * ERROR, "c" * CAUSE), ("", ""), (None, None)])
def test_what_is_not_longer_stays_as_it_is(error: str | None, cause: str | None) -> None:
    told = asl.TaskFailed(error, cause)
    assert (told.error, told.cause) == (error, cause)


def test_a_fail_state_with_paths_is_cut() -> None:
    state = {"Type": "Fail", "ErrorPath": "$.e", "CausePath": "$.c"}
    failed = step(state, asl.Entered(), {"e": "e" * 1000, "c": "c" * 100_000})
    assert is_full(failed.error, ERROR) and is_full(failed.cause, CAUSE)


def test_an_error_that_an_expression_raises_is_cut_for_who_catches_it() -> None:
    state = {
        "Type": "Pass",
        "Output": "{% $error($states.input) %}",
        "End": True,
    }
    failed = step(state, asl.Entered(), "c" * 100_000, QueryLanguage="JSONata")
    assert is_full(failed.cause, CAUSE)


def test_what_a_retry_waits_after_is_cut() -> None:
    retried = step(
        a_task(Retry=[{"ErrorEquals": ["States.ALL"]}]), asl.TaskFailed("E", "c" * 99_999)
    )
    assert is_full(retried.cause, CAUSE)


def test_a_catch_is_given_what_was_cut() -> None:
    state = a_task(Catch=[{"ErrorEquals": ["States.ALL"], "Next": "B"}])
    caught = step(state, asl.TaskFailed(LONG, "c" * 99_999))
    assert is_full(caught.output["Error"], ERROR) and is_full(caught.output["Cause"], CAUSE)


def test_a_name_that_was_cut_is_still_matched_by_the_name_as_it_is_written() -> None:
    caught = step(a_task(Catch=CATCH), asl.TaskFailed(LONG, ""))
    assert isinstance(caught, asl.Transition)
    # Also where it was cut further down.
    state = {
        "Type": "Parallel",
        "End": True,
        "Catch": CATCH,
        "Branches": [{"StartAt": "X", "States": {"X": {"Type": "Succeed"}}}],
    }
    told = asl.TaskFailed(LONG, "").error
    assert isinstance(step(state, asl.ChildFailed(told, "")), asl.Transition)


def test_a_longer_name_is_not_matched_by_another() -> None:
    other = a_task(Catch=[{"ErrorEquals": [f"{LONG}E"], "Next": "B"}])
    assert isinstance(step(other, asl.TaskFailed(LONG, "")), asl.Failure)
    last = a_task(Catch=[{"ErrorEquals": [f"{LONG}1"], "Next": "B"}])
    assert isinstance(step(last, asl.TaskFailed(f"{LONG}2", "")), asl.Failure)
    short = a_task(Catch=[{"ErrorEquals": ["E" * ERROR], "Next": "B"}])
    assert isinstance(step(short, asl.TaskFailed(LONG, "")), asl.Failure)
