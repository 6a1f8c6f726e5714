"""Mocked tasks: what they answer, in which order, and every problem of a mocks file."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcf.asl import (
    Answer,
    Execution,
    StateMachine,
    TaskCall,
    TaskFailed,
    TaskSucceeded,
    VirtualClock,
    interpret,
    parse,
)
from dcf.asl.trial.mocks import Mocks, MockTrouble, has_part
from dcf.asl.trial.mocks_file import MocksInvalid, read_mocks


def call(arguments: Any = None, *path: str | int, resource: str | None = None) -> TaskCall:
    return TaskCall(path or ("Pay",), resource, arguments, 0)


def machine(**fields: Any) -> StateMachine:
    task = {"Type": "Task", "Resource": "arn:aws:lambda:eu:1:function:pay", "End": True, **fields}
    return parse({"StartAt": "Pay", "States": {"Pay": task}})


def run(mocks: Mocks, clock: VirtualClock | None = None, **fields: Any) -> Execution:
    return interpret(
        machine(**fields),
        {"id": 1},
        call_task=mocks,
        clock=clock or VirtualClock(),
        rng=Random(0),
    )


def test_a_single_answer_is_for_every_call() -> None:
    mocks = read_mocks({"states": {"Pay": {"return": {"paid": True}}}})
    assert [mocks(call()).event for _ in range(3)] == [TaskSucceeded({"paid": True})] * 3


def test_a_sequence_answers_one_call_after_the_other_and_then_says_that_it_ran_out() -> None:
    mocks = read_mocks(
        {
            "states": {
                "Pay": [
                    {"error": "Busy", "cause": "later", "times": 2},
                    {"return": 1, "after": 2.5},
                    {"never": True, "heartbeats": [5, 10]},
                ]
            }
        }
    )

    answers = [mocks(call()) for _ in range(4)]

    assert answers[:2] == [Answer(TaskFailed("Busy", "later"))] * 2
    assert answers[2] == Answer(TaskSucceeded(1), 2.5)
    assert answers[3] == Answer(None, heartbeats_s=(5.0, 10.0))
    with pytest.raises(MockTrouble) as trouble:
        mocks(call({"a": 1}))
    assert trouble.value.code == "ASL_MOCK_EXHAUSTED"
    assert "`Pay`" in trouble.value.message
    assert '{"a": 1}' in trouble.value.message
    assert '"times": "always"' in trouble.value.hint


def test_the_last_answer_of_a_sequence_may_be_for_all_that_follow() -> None:
    mocks = read_mocks({"states": {"Pay": [{"error": "Busy"}, {"echo": True, "times": "always"}]}})
    assert mocks(call()).event == TaskFailed("Busy", None)
    assert [mocks(call(n)).event for n in range(3)] == [TaskSucceeded(n) for n in range(3)]


def test_path_before_name_before_resource_before_pattern() -> None:
    mocks = read_mocks(
        {
            "states": {"Pay": {"return": "name"}, "Fan/1/Pay": {"return": "path"}},
            "resources": {
                "arn:*": {"return": "pattern"},
                "arn:aws:one": {"return": "resource"},
                "*": {"return": "anything"},
            },
        }
    )

    def result(*path: str | int, resource: str | None = "arn:aws:two") -> Any:
        event = mocks(call(None, *path, resource=resource)).event
        assert isinstance(event, TaskSucceeded)
        return event.result

    assert result("Fan", 1, "Pay") == "path"
    assert result("Fan", 0, "Pay") == "name"
    assert result("Ship", resource="arn:aws:one") == "resource"
    assert result("Ship") == "pattern"
    assert result("Ship", resource="urn") == "anything"
    with pytest.raises(MockTrouble):
        result("Ship", resource=None)


def test_when_chooses_by_arguments_and_uses_up_only_what_it_chose() -> None:
    mocks = read_mocks(
        {
            "states": {
                "Pay": [
                    {"when": {"country": "fr"}, "return": "euro"},
                    {"return": "dollar", "times": 2},
                ]
            }
        }
    )

    given = [{"country": "us"}, {"country": "fr", "n": 1}, {"country": "fr"}]

    assert [mocks(call(one)).event for one in given] == [
        TaskSucceeded("dollar"),
        TaskSucceeded("euro"),
        TaskSucceeded("dollar"),
    ]


def test_expect_refuses_other_arguments() -> None:
    mocks = read_mocks({"states": {"Pay": {"return": 1, "expect": {"amount": 5}}}})
    assert mocks(call({"amount": 5, "more": 1})).event == TaskSucceeded(1)
    with pytest.raises(MockTrouble) as trouble:
        mocks(call({"amount": 6}))
    assert trouble.value.code == "ASL_MOCK_UNEXPECTED"
    assert '{"amount": 6}' in trouble.value.message
    assert '{"amount": 5}' in trouble.value.hint


def test_a_task_without_mock_is_named_with_what_to_paste() -> None:
    with pytest.raises(MockTrouble) as trouble:
        read_mocks({})(call({"a": 1}, "Fan", 2, "Pay", resource="arn:x"))
    assert trouble.value.code == "ASL_MOCK_MISSING"
    for part in ("`Fan/2/Pay`", "arn:x", '{"a": 1}'):
        assert part in trouble.value.message
    assert '{"states": {"Pay": {"return": {}}}}' in trouble.value.hint


def test_every_problem_of_a_file_is_told_with_its_place() -> None:
    with pytest.raises(MocksInvalid) as invalid:
        read_mocks(
            {
                "state": {},
                "resources": [],
                "states": {
                    "Pya": {"return": 1},
                    "Pay": [
                        {"retrun": 1},
                        {"return": 1, "never": True},
                        {"error": "", "after": -1},
                        {"never": False, "times": 0},
                        {"return": 1, "heartbeats": [1]},
                        {"return": 1, "cause": "x"},
                        "text",
                    ],
                    "Ship": [],
                },
            },
            machine(),
        )

    found = {(problem.path, problem.code) for problem in invalid.value.problems}
    assert found == {
        ("/state", "ASL_MOCK_FILE"),
        ("/resources", "ASL_MOCK_FILE"),
        ("/states/Pya", "ASL_MOCK_STATE"),
        ("/states/Ship", "ASL_MOCK_STATE"),
        ("/states/Ship", "ASL_MOCK_ANSWER"),
        ("/states/Pay/0/retrun", "ASL_MOCK_FIELD"),
        ("/states/Pay/0", "ASL_MOCK_ANSWER"),
        ("/states/Pay/1", "ASL_MOCK_ANSWER"),
        ("/states/Pay/2/error", "ASL_MOCK_VALUE"),
        ("/states/Pay/2/after", "ASL_MOCK_VALUE"),
        ("/states/Pay/3/never", "ASL_MOCK_VALUE"),
        ("/states/Pay/3/times", "ASL_MOCK_VALUE"),
        ("/states/Pay/4/heartbeats", "ASL_MOCK_VALUE"),
        ("/states/Pay/5/cause", "ASL_MOCK_VALUE"),
        ("/states/Pay/6", "ASL_MOCK_ANSWER"),
    }
    assert all(problem.hint for problem in invalid.value.problems)


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_a_file_that_holds_no_object_is_told(value: Any) -> None:
    with pytest.raises(MocksInvalid) as invalid:
        read_mocks(value)
    assert [problem.code for problem in invalid.value.problems] == ["ASL_MOCK_FILE"]


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("states", "resources", "Pay", "return", "error", "cause", "never", "echo"),
                    *("after", "heartbeats", "when", "expect", "times", "x"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(_values, _values)
def test_no_file_and_no_call_raises_anything_else(value: Any, arguments: Any) -> None:
    try:
        mocks = read_mocks(value, machine())
    except MocksInvalid as invalid:
        assert invalid.problems
        return
    for _ in range(3):
        try:
            assert isinstance(mocks(call(arguments, resource="arn:x")), Answer)
        except MockTrouble as trouble:
            assert trouble.hint


def test_a_part_of_an_object_is_some_of_its_members_and_of_an_array_all() -> None:
    assert has_part({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 1}})
    assert not has_part({"a": 1}, {"a": None})
    assert not has_part([1, 2], [1])
    assert has_part([{"a": 1, "b": 2}], [{"a": 1}])
    assert not has_part(1, True)


def test_mocks_drive_retries_on_virtual_time() -> None:
    mocks = read_mocks({"states": {"Pay": [{"error": "Busy", "after": 2}, {"echo": True}]}})
    clock = VirtualClock()

    end = run(mocks, clock, Retry=[{"ErrorEquals": ["Busy"], "IntervalSeconds": 3600}])

    assert (end.status, end.output) == ("SUCCEEDED", {"id": 1})
    assert clock.now == 3602.0


def test_a_task_that_never_answers_ends_by_its_own_timeout() -> None:
    mocks = read_mocks({"states": {"Pay": {"never": True}}})
    clock = VirtualClock()

    end = run(mocks, clock, TimeoutSeconds=90)

    assert (end.status, end.error) == ("FAILED", "States.Timeout")
    assert clock.now == 90.0


@pytest.mark.parametrize(
    "answer", [{"return": 1, "after": 1e308}, {"never": True, "heartbeats": [1e300]}]
)
def test_no_answer_takes_longer_than_a_century(answer: dict[str, Any]) -> None:
    with pytest.raises(MocksInvalid) as invalid:
        read_mocks({"states": {"Pay": answer}})

    [problem] = invalid.value.problems
    assert problem.code == "ASL_MOCK_VALUE"
    assert problem.path in ("/states/Pay/after", "/states/Pay/heartbeats")


def test_a_pattern_that_takes_long_to_read_is_refused_by_its_length() -> None:
    longest = "*" + "[" * 255
    assert read_mocks({"resources": {longest: {"return": 1}, "x" * 3000: {"return": 2}}})
    with pytest.raises(MocksInvalid) as invalid:
        read_mocks({"resources": {longest + "[": {"return": 1}}})
    (problem,) = invalid.value.problems
    assert problem.code == "ASL_MOCK_FILE"
    assert "at most 256 characters, found 257" in problem.message


def test_a_pattern_is_read_once_however_many_calls_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mocks = read_mocks({"resources": {f"{n}*": {"return": n} for n in range(300)}})
    monkeypatch.setattr("re.compile", None)
    for n in range(300):
        answer = mocks(call(resource=f"{n}x"))
        assert isinstance(answer.event, TaskSucceeded)
