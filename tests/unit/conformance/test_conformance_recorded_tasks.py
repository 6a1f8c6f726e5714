"""Tasks answer what was recorded, and arguments are compared with what was recorded."""

from __future__ import annotations

import json
from typing import Any

from dcf.asl import Answer, TaskCall, TaskFailed, TaskSucceeded
from dcf.conformance.recorded_tasks import NOT_RECORDED, RecordedTasks


def call(arguments: Any, *path: str | int, resource: str = "r") -> TaskCall:
    return TaskCall(path or ("T",), resource, arguments, 0)


def recorded(*calls: dict[str, Any], kind: str = "replay") -> dict[str, Any]:
    return {"r": {"kind": kind, "calls": {"T": list(calls)}}}


def test_in_sequence_the_nth_try_gets_the_nth_call() -> None:
    tasks = RecordedTasks(
        recorded(
            {"input": 1, "Throw": {"error": "Busy", "cause": "later"}},
            {"input": 1, "Return": "done"},
            {"input": 1, "Never": True},
        )
    )

    answers = [tasks(call(1)) for _ in range(3)]

    assert answers == [
        Answer(TaskFailed("Busy", "later")),
        Answer(TaskSucceeded("done")),
        Answer(None),
    ]
    assert tasks.mismatches == []


def test_inside_a_map_the_call_with_these_arguments_answers() -> None:
    tasks = RecordedTasks(recorded({"input": 1, "Return": "one"}, {"input": 2, "Return": "two"}))

    assert tasks(call(2, "M", 1, "T")).event == TaskSucceeded("two")
    assert tasks(call(1, "M", 0, "T")).event == TaskSucceeded("one")
    assert tasks.mismatches == []


def test_other_arguments_are_told_and_answered_all_the_same() -> None:
    tasks = RecordedTasks(recorded({"input": {"a": 1}, "Return": "done"}))

    assert tasks(call({"a": 2})).event == TaskSucceeded("done")
    assert tasks.mismatches == ["""'T' was given {"a": 2}; recorded: {"a": 1}"""]


def test_placeholders_in_recorded_arguments_stand_for_anything() -> None:
    tasks = RecordedTasks(recorded({"input": {"token": "<t>"}, "Return": 1}), ["<t>"])

    tasks(call({"token": "abc"}))

    assert tasks.mismatches == []


def test_a_call_that_was_not_recorded_fails_and_is_told() -> None:
    tasks = RecordedTasks(recorded({"input": 1, "Return": "done"}))
    tasks(call(1))

    for again in (call(1), call(1, resource="other"), call(1, "Elsewhere")):
        event = tasks(again).event
        assert isinstance(event, TaskFailed)
        assert event.error == NOT_RECORDED
    assert len(tasks.mismatches) == 3


def test_where_the_order_was_lost_any_state_may_take_a_call_and_the_kind_answers() -> None:
    tasks = RecordedTasks(
        recorded({"input": 1, "Never": True}, {"input": 2, "Return": "two"}, kind="echo"),
        calls_exact=False,
    )

    assert tasks(call(2, "Other")).event == TaskSucceeded("two")
    assert tasks(call(1)).event == TaskSucceeded(1)


def test_kinds_answer_where_no_call_was_recorded() -> None:
    tasks = RecordedTasks(
        {
            "echo": {"kind": "echo"},
            "return": {"kind": "return", "value": [1]},
            "repeat": {"kind": "repeat", "text": "ab", "count": 3},
            "format": {"kind": "format", "template": "got {event}"},
            "sleep": {"kind": "sleep", "seconds": 9, "then": {"kind": "return", "value": 2}},
            "error": {"kind": "error", "error": "Busy", "message": "later"},
            "replay": {"kind": "replay"},
        }
    )

    assert tasks(call({"a": 1}, resource="echo")).event == TaskSucceeded({"a": 1})
    assert tasks(call(0, resource="return")).event == TaskSucceeded([1])
    assert tasks(call(0, resource="repeat")).event == TaskSucceeded("ababab")
    assert tasks(call(["x"], resource="format")).event == TaskSucceeded("got ['x']")
    assert tasks(call(0, resource="sleep")) == Answer(TaskSucceeded(2), 9.0)
    failed = tasks(call(0, resource="error")).event
    assert isinstance(failed, TaskFailed)
    assert failed.error == "Busy"
    assert json.loads(failed.cause or "")["errorMessage"] == "later"
    assert tasks.mismatches == []
    tasks(call(0, resource="replay"))
    assert len(tasks.mismatches) == 1


def test_lambda_invoke_calls_the_function_that_the_arguments_name() -> None:
    functions = {"f": {"kind": "echo"}, "g": {"kind": "error", "error": "Busy"}}
    tasks = RecordedTasks({"r": {"kind": "lambda_invoke", "functions": functions}})
    arn = "arn:aws:lambda:us-east-1:1:function:g"

    event = tasks(call({"FunctionName": "f", "Payload": {"a": 1}})).event

    assert isinstance(event, TaskSucceeded)
    assert event.result["Payload"] == {"a": 1}
    assert event.result["StatusCode"] == 200
    assert event.result["SdkHttpMetadata"]["HttpHeaders"]["Content-Length"] == "8"
    failed = tasks(call({"FunctionName": arn, "Payload": 0})).event
    assert isinstance(failed, TaskFailed)
    assert failed.error == "Busy"


def test_causes_lose_their_blanks_on_the_way_through_lambda_invoke() -> None:
    thrown = {"input": 0, "Throw": {"error": "Busy", "cause": '{"a": 1, "b": "c: d"}'}}

    direct = RecordedTasks(recorded(thrown))(call(0)).event
    invoked = RecordedTasks(recorded(thrown, kind="lambda_invoke"))(call(0)).event

    assert direct == TaskFailed("Busy", '{"a": 1, "b": "c: d"}')
    assert invoked == TaskFailed("Busy", '{"a":1,"b":"c: d"}')


def test_what_differs_at_every_try_is_told_once() -> None:
    tasks = RecordedTasks(recorded(*[{"input": 1, "Throw": {"error": "Busy"}}] * 3))

    for _ in range(5):
        tasks(call(2))

    assert tasks.mismatches == [
        "'T' was given 2; recorded: 1",
        "'T' calls 'r' more often than recorded",
    ]
