"""Retry and Catch: which errors they take, the delays, and where the error goes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from asl_builders import alone, codes, parsed, visit_of
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import (
    ChildFailed,
    Entered,
    Failure,
    RetryAfter,
    TaskFailed,
    Transition,
    step,
)

Entry = dict[str, Any]


def fail(error: str, *, retry: Any = (), catch: Any = (), **more: Any) -> Any:
    """What a Task wants after ``error`` (cause ``why``)."""
    state = parsed({"Type": "Task", "Resource": "r", "Retry": list(retry), "Catch": list(catch)})
    return step(state, visit_of({"in": 1}, **more), TaskFailed(error, "why"), Random(5))


def retries(names: list[str], error: str) -> bool:
    return isinstance(fail(error, retry=[{"ErrorEquals": names}]), RetryAfter)


@pytest.mark.parametrize(
    ("names", "error", "expected"),
    [
        (["A"], "A", True),
        (["A"], "B", False),
        (["States.ALL"], "A", True),
        (["States.ALL"], "States.Timeout", True),
        (["States.ALL"], "States.IntrinsicFailure", True),
        (["States.ALL"], "States.DataLimitExceeded", False),
        (["States.DataLimitExceeded"], "States.DataLimitExceeded", True),
        (["States.ALL"], "States.Runtime", False),
        (["States.Runtime"], "States.Runtime", False),
        (["States.TaskFailed"], "A", True),
        (["States.TaskFailed"], "States.TaskFailed", True),
        (["States.TaskFailed"], "States.Timeout", False),
        (["States.TaskFailed"], "States.HeartbeatTimeout", True),
        (["States.Timeout"], "States.HeartbeatTimeout", True),
        (["States.HeartbeatTimeout"], "States.Timeout", False),
    ],
)
def test_an_error_name_stands_for_these_errors(
    names: list[str], error: str, expected: bool
) -> None:
    assert retries(names, error) is expected


def test_the_defaults_are_three_attempts_after_1_2_and_4_seconds() -> None:
    entry = [{"ErrorEquals": ["A"]}]
    effects = [fail("A", retry=entry, retries={0: used}) for used in range(4)]

    assert [e.seconds for e in effects[:3]] == [1.0, 2.0, 4.0]
    assert effects[0] == RetryAfter(1.0, 0, "A", "why")
    assert effects[3] == Failure("A", "why")


def test_the_delays_of_the_specification_example() -> None:
    # IntervalSeconds 3 and BackoffRate 2 wait 3, 6, 12 … seconds; MaxDelaySeconds caps them.
    entry = [
        {
            "ErrorEquals": ["States.Timeout"],
            "IntervalSeconds": 3,
            "MaxAttempts": 5,
            "BackoffRate": 2.0,
            "MaxDelaySeconds": 10,
        }
    ]

    delays = [fail("States.Timeout", retry=entry, retries={0: n}).seconds for n in range(4)]

    assert delays == [3.0, 6.0, 10.0, 10.0]


def test_max_attempts_zero_means_never() -> None:
    assert fail("A", retry=[{"ErrorEquals": ["A"], "MaxAttempts": 0}]) == Failure("A", "why")


def test_each_retrier_counts_its_own_attempts() -> None:
    entries = [{"ErrorEquals": ["A"], "MaxAttempts": 1}, {"ErrorEquals": ["B"]}]

    assert fail("B", retry=entries, retries={0: 1}) == RetryAfter(1.0, 1, "B", "why")


def test_only_the_first_retrier_that_names_the_error_counts() -> None:
    entries = [{"ErrorEquals": ["A"], "MaxAttempts": 0}, {"ErrorEquals": ["States.ALL"]}]

    assert fail("A", retry=entries) == Failure("A", "why")


@given(
    interval=st.integers(1, 1000),
    rate=st.floats(1, 10),
    cap=st.none() | st.integers(1, 5000),
    used=st.integers(0, 300),
)
def test_delays_grow_by_the_rate_up_to_the_cap(
    interval: int, rate: float, cap: int | None, used: int
) -> None:
    entry = {
        "ErrorEquals": ["A"],
        "IntervalSeconds": interval,
        "BackoffRate": rate,
        "MaxAttempts": 1000,
        **({} if cap is None else {"MaxDelaySeconds": cap}),
    }

    seconds = fail("A", retry=[entry], retries={0: used}).seconds

    ceiling = cap if cap is not None else 31_622_400
    assert seconds == pytest.approx(min(interval * rate**used, ceiling))


def test_a_delay_beyond_every_number_is_the_longest() -> None:
    entry = {"ErrorEquals": ["A"], "BackoffRate": 10, "MaxAttempts": 1000}

    assert fail("A", retry=[entry], retries={0: 400}).seconds == 31_622_400


@given(seed=st.integers())
def test_full_jitter_draws_between_zero_and_the_delay(seed: int) -> None:
    entry = {"ErrorEquals": ["A"], "IntervalSeconds": 8, "JitterStrategy": "FULL"}
    state = parsed({"Type": "Task", "Resource": "r", "Retry": [entry]})

    effects = [step(state, visit_of({}), TaskFailed("A", ""), Random(seed)) for _ in range(2)]

    assert effects[0] == effects[1]
    assert 0 <= effects[0].seconds <= 8


def test_jitter_without_a_generator_depends_on_the_visit_alone() -> None:
    entry = {"ErrorEquals": ["A"], "IntervalSeconds": 8, "JitterStrategy": "FULL"}
    state = parsed({"Type": "Task", "Resource": "r", "Retry": [entry]})

    first, second = (step(state, visit_of({}), TaskFailed("A", "")) for _ in range(2))

    assert first == second


def test_catch_goes_on_with_error_and_cause() -> None:
    caught = fail("A", catch=[{"ErrorEquals": ["A"], "Next": "Next"}])

    assert caught == Transition("Next", {"Error": "A", "Cause": "why"}, {})


def test_catch_puts_the_error_into_the_raw_input() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Next", "ResultPath": "$.problem"}]

    assert fail("A", catch=catch).output == {
        "in": 1,
        "problem": {"Error": "A", "Cause": "why"},
    }


def test_catch_comes_after_retry_is_spent() -> None:
    retry, catch = (
        [{"ErrorEquals": ["A"], "MaxAttempts": 1}],
        [{"ErrorEquals": ["A"], "Next": "Next"}],
    )

    assert isinstance(fail("A", retry=retry, catch=catch), RetryAfter)
    assert isinstance(fail("A", retry=retry, catch=catch, retries={0: 1}), Transition)


def test_the_first_catcher_that_names_the_error_wins() -> None:
    catch = [
        {"ErrorEquals": ["B"], "Next": "S"},
        {"ErrorEquals": ["A"], "Next": "Next"},
        {"ErrorEquals": ["States.ALL"], "Next": "S"},
    ]

    assert fail("A", catch=catch).next == "Next"


def test_an_error_of_evaluation_is_caught_by_its_name() -> None:
    state = {
        "Type": "Task",
        "Resource": "r",
        "Parameters": {"n.$": "States.MathAdd($.n, 1)"},
        "Catch": [{"ErrorEquals": ["States.IntrinsicFailure"], "Next": "Next"}],
    }

    effect = step(parsed(state), visit_of({"n": "x"}), Entered())

    assert isinstance(effect, Transition)
    assert effect.output["Error"] == "States.IntrinsicFailure"


def test_a_missing_path_is_a_runtime_error_that_nothing_catches() -> None:
    state = {
        "Type": "Task",
        "Resource": "r",
        "InputPath": "$.missing",
        "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Next"}],
    }

    assert step(parsed(state), visit_of({}), Entered()).error == "States.Runtime"


@pytest.mark.parametrize(
    "state",
    [
        {
            "Type": "Parallel",
            "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}],
        },
        {
            "Type": "Map",
            "ItemProcessor": {"StartAt": "B", "States": {"B": {"Type": "Succeed"}}},
        },
    ],
)
def test_a_failed_child_is_retried_and_caught_like_a_failed_task(state: Entry) -> None:
    full = {
        **state,
        "Retry": [{"ErrorEquals": ["A"], "MaxAttempts": 1}],
        "Catch": [{"ErrorEquals": ["A"], "Next": "Next"}],
    }
    first = step(parsed(full), visit_of([]), ChildFailed("A", "why"))
    second = step(parsed(full), visit_of([], retries={0: 1}), ChildFailed("A", "why"))

    assert first == RetryAfter(1.0, 0, "A", "why")
    assert second == Transition("Next", {"Error": "A", "Cause": "why"}, {})


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ([{}], [("ASL_MISSING_FIELD", "/0")]),
        ([{"ErrorEquals": []}], [("ASL_BAD_ERROR_EQUALS", "/0/ErrorEquals")]),
        ([{"ErrorEquals": [1]}], [("ASL_WRONG_TYPE", "/0/ErrorEquals/0")]),
        (
            [{"ErrorEquals": ["States.ALL", "A"]}],
            [("ASL_BAD_ERROR_EQUALS", "/0/ErrorEquals")],
        ),
        (
            [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["A"]}],
            [("ASL_BAD_ERROR_EQUALS", "/0/ErrorEquals")],
        ),
        (
            [{"ErrorEquals": ["A"], "IntervalSeconds": -1}],
            [("ASL_OUT_OF_RANGE", "/0/IntervalSeconds")],
        ),
        ([{"ErrorEquals": ["A"], "BackoffRate": 0.5}], [("ASL_OUT_OF_RANGE", "/0/BackoffRate")]),
        ([{"ErrorEquals": ["A"], "MaxAttempts": 1.5}], [("ASL_WRONG_TYPE", "/0/MaxAttempts")]),
        (
            [{"ErrorEquals": ["A"], "JitterStrategy": "HALF"}],
            [("ASL_OUT_OF_RANGE", "/0/JitterStrategy")],
        ),
        ([{"ErrorEquals": ["A"], "Next": "S"}], [("ASL_UNKNOWN_FIELD", "/0/Next")]),
        (["A"], [("ASL_WRONG_TYPE", "/0")]),
    ],
)
def test_a_bad_retrier_is_refused_where_it_is_bad(
    entries: list[Any], found: list[tuple[str, str]]
) -> None:
    state = {"Type": "Task", "Resource": "r", "Retry": entries}

    assert codes(alone(state)) == [(code, f"/States/S/Retry{place}") for code, place in found]


@pytest.mark.parametrize(
    ("entry", "code", "place"),
    [
        ({"ErrorEquals": ["A"]}, "ASL_MISSING_FIELD", ""),
        ({"ErrorEquals": ["A"], "Next": "Nowhere"}, "ASL_UNKNOWN_STATE", "/Next"),
        ({"Next": "Next"}, "ASL_MISSING_FIELD", ""),
        (
            {"ErrorEquals": ["A"], "Next": "Next", "ResultPath": "$[*]"},
            "ASL_BAD_REFERENCE_PATH",
            "/ResultPath",
        ),
    ],
)
def test_a_bad_catcher_is_refused_where_it_is_bad(entry: Entry, code: str, place: str) -> None:
    state = {"Type": "Task", "Resource": "r", "Catch": [entry]}

    assert codes(alone(state)) == [(code, f"/States/S/Catch/0{place}")]
