"""Running one state alone."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import DefinitionError
from dcf.asl.trial.state_test import run_state
from dcf.asl.trial.state_test_case import Configuration, MockedError, MockedResult, StateTest
from dcf.asl.trial.state_test_rules import StateTestRefused

TASK = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": True}
INNER = {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": True}}}
PARALLEL = {"Type": "Parallel", "Branches": [INNER], "End": True}
MAP = {
    "Type": "Map",
    "ItemProcessor": {
        **INNER,
        "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
    },
    "End": True,
}
ERROR = MockedError("E", "c")


def test_a_state_without_work_runs() -> None:
    state = {"Type": "Pass", "Parameters": {"b.$": "$.a"}, "Next": "Somewhere"}

    found = run_state(state, {"a": 1})

    assert found == StateTest("SUCCEEDED", {"b": 1}, next_state="Somewhere")


def test_a_wait_does_not_wait() -> None:
    assert run_state({"Type": "Wait", "Seconds": 99, "End": True}, 1).output == 1


def test_a_fail_fails() -> None:
    found = run_state({"Type": "Fail", "Error": "E", "Cause": "c"}, {})

    assert (found.status, found.error, found.cause) == ("FAILED", "E", "c")


def test_a_choice_tells_where_it_goes() -> None:
    rule = {"Variable": "$.n", "NumericGreaterThan": 1, "Next": "Big"}
    state = {"Type": "Choice", "Choices": [rule], "Default": "Small"}

    assert run_state(state, {"n": 2}).next_state == "Big"
    assert run_state(state, {"n": 0}).next_state == "Small"


def test_the_work_of_a_task_is_mocked() -> None:
    state = {**TASK, "ResultSelector": {"v.$": "$.Payload"}, "ResultPath": "$.r"}

    found = run_state(state, {"a": 1}, mock=MockedResult({"Payload": 5}))

    assert found.output == {"a": 1, "r": {"v": 5}}


def test_an_error_that_nothing_takes_fails_the_state() -> None:
    found = run_state(TASK, {}, mock=ERROR)

    assert (found.status, found.error, found.cause) == ("FAILED", "E", "c")


RETRY = {
    **TASK,
    "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 1, "MaxAttempts": 5, "BackoffRate": 2.0}],
}


def test_an_error_that_would_be_retried_tells_the_delay() -> None:
    used = Configuration(retrier_retry_count=4)

    found = run_state(RETRY, {}, mock=ERROR, configuration=used, level="DEBUG")

    assert (found.status, found.error, found.retry_after_s) == ("RETRIABLE", "E", 16.0)
    details = {"retryBackoffIntervalSeconds": 16.0, "retryIndex": 0}
    assert found.inspection["errorDetails"] == details


def test_attempts_that_are_used_up_fail_the_state() -> None:
    used = Configuration(retrier_retry_count=5)

    found = run_state(RETRY, {}, mock=ERROR, configuration=used, level="DEBUG")

    assert found.status == "FAILED"
    assert found.inspection["errorDetails"] == {"retryIndex": 0}


def test_a_caught_error_tells_which_catcher_took_it() -> None:
    catch = [
        {"ErrorEquals": ["Other"], "Next": "X"},
        {"ErrorEquals": ["E"], "ResultPath": "$.e", "Assign": {"n.$": "$.Error"}, "Next": "Y"},
    ]

    found = run_state({**TASK, "Catch": catch}, {"a": 1}, mock=ERROR, level="TRACE")

    assert (found.status, found.next_state) == ("CAUGHT_ERROR", "Y")
    assert found.output == {"a": 1, "e": {"Error": "E", "Cause": "c"}}
    assert (found.error, found.cause) == ("E", "c")
    assert found.assigned == {"n": "E"}
    assert found.inspection["errorDetails"] == {"catchIndex": 1}


def test_an_error_of_evaluation_is_caught_too() -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "Y"}]
    state = {**TASK, "QueryLanguage": "JSONata", "Arguments": "{% $nothing %}", "Catch": catch}

    found = run_state(state, {}, mock=MockedResult({}))

    assert (found.status, found.error) == ("CAUGHT_ERROR", "States.QueryEvaluationError")


def test_the_inspection_shows_the_stages_of_the_data_flow() -> None:
    state = {
        **TASK,
        "InputPath": "$.a",
        "Parameters": {"p.$": "$.b"},
        "ResultSelector": {"s.$": "$.Payload"},
        "ResultPath": "$.r",
        "OutputPath": "$.r.s",
    }

    found = run_state(state, {"a": {"b": 1}}, mock=MockedResult({"Payload": 2}), level="DEBUG")

    assert found.output == 2
    assert found.inspection == {
        "input": {"a": {"b": 1}},
        "afterInputPath": {"b": 1},
        "afterParameters": {"p": 1},
        "result": {"Payload": 2},
        "afterResultSelector": {"s": 2},
        "afterResultPath": {"a": {"b": 1}, "r": {"s": 2}},
    }


def test_in_jsonata_there_are_arguments_and_result() -> None:
    state = {**TASK, "QueryLanguage": "JSONata", "Arguments": {"n": "{% 1 + 1 %}"}}

    found = run_state(state, {}, mock=MockedResult({"StatusCode": 200}), level="DEBUG")

    assert found.inspection == {
        "input": {},
        "afterArguments": {"n": 2},
        "result": {"StatusCode": 200},
    }


def test_the_level_info_shows_nothing() -> None:
    assert run_state({"Type": "Pass", "End": True}, {}).inspection == {}


def test_variables_are_given_and_shown_with_those_assigned() -> None:
    state = {"Type": "Pass", "Parameters": {"v.$": "$x"}, "Assign": {"y": 2}, "End": True}

    found = run_state(state, {}, variables={"x": 1}, level="DEBUG")

    assert (found.output, found.assigned) == ({"v": 1}, {"y": 2})
    assert found.inspection["variables"] == {"x": 1, "y": 2}


def test_a_state_of_a_machine_is_found_by_name_wherever_it_stands() -> None:
    machine = {"StartAt": "Both", "States": {"Both": PARALLEL}}

    assert run_state(machine, 7, state_name="P").output == 7


def test_a_context_replaces_the_usual_one() -> None:
    state = {"Type": "Pass", "Parameters": {"c.$": "$$"}, "End": True}

    assert run_state(state, {}, context={}).output == {"c": {}}
    usual = run_state(state, {"a": 1}).output["c"]
    assert usual["Execution"]["Input"] == {"a": 1}
    assert usual["State"]["Name"] == "StateName"


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"Execution": {"Id": 1}}, "Execution.Id must be a string"),
        ({"Map": {}}, "'Map' field is not supported when mocking a Context object"),
        ({"Other": {}}, "Field 'Other' is not allowed"),
        ({"State": {"other": 1}}, "Field 'other' is not allowed"),
    ],
)
def test_a_context_must_be_one(context: dict[str, Any], why: str) -> None:
    with pytest.raises(StateTestRefused) as refused:
        run_state({"Type": "Pass", "End": True}, {}, context=context)

    assert refused.value.error == "ValidationException"
    assert refused.value.cause == f"Invalid Context object provided: {why}"


@pytest.mark.parametrize(
    ("state", "mock", "why"),
    [
        ({"Type": "Pass", "End": True}, ERROR, "State type 'Pass' is not supported"),
        ({"Type": "Succeed"}, MockedResult({}), "State type 'Succeed' is not supported"),
        (TASK, None, "A mock must be specified"),
        (MAP, None, "TestState API does not support Map or Parallel states"),
        (MAP, MockedResult({}), "Mocked result must be an array."),
        (PARALLEL, MockedResult({}), "Mocked result must be an array."),
        (PARALLEL, MockedResult([1, 2]), "Mocked result must contain the same number of items"),
        (TASK, MockedResult({"StatusCode": "200"}), "Field 'StatusCode' must be a number"),
    ],
)
def test_a_mock_must_fit_the_state(state: dict[str, Any], mock: Any, why: str) -> None:
    with pytest.raises(StateTestRefused) as refused:
        run_state(state, [], mock=mock)

    assert why in refused.value.cause


def test_a_shape_need_not_be_checked() -> None:
    mock = MockedResult({"StatusCode": "200"})

    assert run_state(TASK, {}, mock=mock, schema=False).status == "SUCCEEDED"


def test_a_map_with_a_result_writer_gives_an_object() -> None:
    writer = {"Resource": "arn:aws:states:::s3:putObject", "Parameters": {"Bucket": "b"}}
    state = {**MAP, "ResultWriter": writer}

    with pytest.raises(StateTestRefused, match="Mocked result must be a JSON object"):
        run_state(state, [], mock=MockedResult([]))
    assert run_state(state, [], mock=MockedResult({"MapRunArn": "a"})).output == {"MapRunArn": "a"}


@pytest.mark.parametrize(("failed", "status"), [(1, "SUCCEEDED"), (2, "FAILED")])
def test_a_map_fails_above_its_tolerance(failed: int, status: str) -> None:
    counted = Configuration(map_iteration_failure_count=failed)

    found = run_state(
        {**MAP, "ToleratedFailureCount": 1},
        [1, 2, 3],
        mock=MockedResult([0, 0, 1]),
        configuration=counted,
        level="DEBUG",
    )

    assert found.status == status
    assert found.inspection["toleratedFailureCount"] == 1
    assert found.error == ("States.ExceedToleratedFailureThreshold" if status == "FAILED" else None)


def test_no_more_iterations_fail_than_there_are() -> None:
    counted = Configuration(map_iteration_failure_count=4)

    with pytest.raises(StateTestRefused, match="Map iteration failure count must be less"):
        run_state(MAP, [], mock=MockedResult([1]), configuration=counted)


def test_a_mocked_error_of_a_map_names_a_state_inside() -> None:
    inside = Configuration(error_caused_by_state="P")
    outside = Configuration(error_caused_by_state="Q")

    assert run_state(MAP, [1], mock=ERROR, configuration=inside).error == "E"
    with pytest.raises(StateTestRefused):
        run_state(MAP, [1], mock=ERROR, configuration=outside)


def test_what_an_item_reader_finds_is_given() -> None:
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": {"InputType": "JSON"},
        "Parameters": {"Bucket": "b", "Key": "k"},
    }
    state = {**MAP, "ItemReader": reader, "ItemSelector": {"v.$": "$$.Map.Item.Value"}}
    given = Configuration(map_item_reader_data=[1, 2])

    found = run_state(state, {}, mock=MockedResult(["a", "b"]), configuration=given, level="DEBUG")

    assert found.output == ["a", "b"]
    assert found.inspection["afterItemSelector"] == [{"v": 1}, {"v": 2}]


READER = {
    "Resource": "arn:aws:states:::s3:getObject",
    "ReaderConfig": {"InputType": "JSON"},
    "Parameters": {"Bucket": "b", "Key": "k"},
}


def test_what_an_item_reader_finds_runs_on_the_effective_input() -> None:
    state = {
        **MAP,
        "InputPath": "$.inner",
        "ItemReader": READER,
        "MaxConcurrencyPath": "$.window",
        "ToleratedFailureCountPath": "$.most",
        "ItemSelector": {"day.$": "$.day"},
    }

    found = run_state(
        state,
        {"inner": {"window": 3, "most": 1, "day": "Monday"}},
        mock=MockedResult([0]),
        configuration=Configuration(map_item_reader_data=[1]),
        level="DEBUG",
    )

    assert found.status == "SUCCEEDED"
    assert found.inspection["maxConcurrency"] == 3
    assert found.inspection["toleratedFailureCount"] == 1
    assert found.inspection["afterItemSelector"] == [{"day": "Monday"}]


def test_a_limit_that_an_item_reader_cannot_find_fails_the_state() -> None:
    state = {**MAP, "ItemReader": READER, "MaxConcurrencyPath": "$.window"}

    found = run_state(
        state, {}, mock=MockedResult([0]), configuration=Configuration(map_item_reader_data=[1])
    )

    assert (found.status, found.error) == ("FAILED", "States.Runtime")


@pytest.mark.parametrize(
    ("tolerated", "status"),
    [
        # One failed batch of two means two failed items of four.
        ({"ToleratedFailureCount": 1}, "FAILED"),
        ({"ToleratedFailureCount": 2}, "SUCCEEDED"),
        ({"ToleratedFailurePercentage": 49}, "FAILED"),
        ({"ToleratedFailurePercentage": 50}, "SUCCEEDED"),
    ],
)
def test_all_items_of_a_failed_batch_count(tolerated: dict[str, int], status: str) -> None:
    state = {**MAP, "ItemBatcher": {"MaxItemsPerBatch": 2}, **tolerated}
    counted = Configuration(map_iteration_failure_count=1)

    found = run_state(state, [1, 2, 3, 4], mock=MockedResult([0, 1]), configuration=counted)

    assert found.status == status


def test_a_percentage_is_that_of_the_mocked_iterations_when_the_items_are_not_given() -> None:
    state = {**MAP, "ItemReader": READER, "ToleratedFailurePercentage": 50}
    counted = Configuration(map_iteration_failure_count=1)

    assert run_state(state, {}, mock=MockedResult([0, 1]), configuration=counted).output == [0, 1]


def test_a_state_that_is_not_there_is_refused() -> None:
    machine = {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}

    with pytest.raises(StateTestRefused, match="State not found in definition"):
        run_state(machine, {}, state_name="B")


def test_a_bad_definition_raises_its_problems() -> None:
    with pytest.raises(DefinitionError):
        run_state({"Type": "Pass", "Next": 5}, {})


START = {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution", "End": True}


def test_an_answer_has_what_the_service_always_gives() -> None:
    mock = MockedResult({"ExecutionArn": "arn"})

    with pytest.raises(StateTestRefused, match="Field 'StartDate' is required"):
        run_state(START, {}, mock=mock)
    assert run_state(START, {}, mock=mock, complete=False).status == "SUCCEEDED"


def test_who_waits_for_an_execution_gets_what_describes_it() -> None:
    """The developer guide, test-state-isolation.html: the polling API's schema, which is that of
    DescribeExecution, and not the response of StartExecution."""
    waiting = START | {"Resource": f"{START['Resource']}.sync:2"}
    started = {"ExecutionArn": "arn", "StartDate": "2026-01-01T00:00:00Z"}
    described = {**started, "StateMachineArn": "arn", "Status": "SUCCEEDED"}

    with pytest.raises(StateTestRefused, match="Field 'StateMachineArn' is required"):
        run_state(waiting, {}, mock=MockedResult(started))
    assert run_state(waiting, {}, mock=MockedResult(described)).status == "SUCCEEDED"


def test_a_state_inside_a_map_is_tested_as_its_first_iteration() -> None:
    """The developer guide, test-state-isolation.html, "Automatic Context population"."""
    read = {"i.$": "$$.Map.Item.Index", "v.$": "$$.Map.Item.Value"}
    inner = machine_of(P={"Type": "Pass", "Parameters": read, "End": True})
    machine = machine_of(M={"Type": "Map", "ItemProcessor": inner, "End": True})

    assert run_state(machine, "x", state_name="P").output == {"i": 0, "v": "x"}


@pytest.mark.parametrize(
    ("config", "text", "items"),
    [
        (
            {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"},
            "a,b\n1,2\n",
            [{"a": "1", "b": "2"}],
        ),
        ({"InputType": "JSONL"}, '{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ({"InputType": "JSON", "ItemsPointer": "/x"}, '{"x": [1, 2, 3]}', [1, 2, 3]),
        ({"InputType": "JSON", "MaxItems": 1}, "[1, 2]", [1]),
    ],
)
def test_a_reader_takes_its_data_as_it_is_in_the_store(
    config: dict[str, Any], text: str, items: list[Any]
) -> None:
    reader = {
        "Resource": "arn:aws:states:::s3:getObject",
        "ReaderConfig": config,
        "Parameters": {"Bucket": "b", "Key": "k"},
    }
    state = {**MAP, "ItemReader": reader, "ItemSelector": {"v.$": "$$.Map.Item.Value"}}

    found = run_state(
        state,
        {},
        mock=MockedResult([0]),
        configuration=Configuration(map_item_reader_data=text),
        level="DEBUG",
    )

    assert found.inspection["afterItemSelector"] == [{"v": item} for item in items]


def test_a_context_is_an_object() -> None:
    no_object: Any = [1]

    with pytest.raises(StateTestRefused, match="Invalid Context object provided"):
        run_state(TASK, {}, mock=ERROR, context=no_object)


@pytest.mark.parametrize(
    ("action", "result", "why"),
    [
        ("dynamodb:getItem", {"Item": {"id": {"S": 5}}}, "Field 'S' must be a string"),
        ("dynamodb:getItem", {"Item": {"id": "x"}}, "Field 'id' must be an object"),
        ("aws-sdk:dynamodb:getItem", {"Item": {"a": {"L": [{"N": 1}]}}}, "'N' must be a string"),
        ("aws-sdk:s3:getObject", {"DeleteMarker": "true"}, "'DeleteMarker' must be a boolean"),
        ("aws-sdk:s3:getObject", {"Metadata": {"a": 1}}, "Field 'a' must be a string"),
        ("aws-sdk:s3:putObject", {"ServerSideEncryption": "no"}, "is not an expected value"),
        ("aws-sdk:kms:encrypt", {"KeyId": "k" * 2049}, "'KeyId' exceeds the maximum length"),
        (
            "aws-sdk:lambda:getFunction",
            {"Configuration": {"Architectures": ["x86"]}},
            "Field 'Architectures' is not an expected value",
        ),
        (
            "aws-sdk:lambda:getFunction",
            {"Concurrency": {"ReservedConcurrentExecutions": -1}},
            "is less than the minimum value",
        ),
        ("aws-sdk:eventbridge:putEvents", {"FailedEntryCount": "0"}, "must be a number"),
    ],
)
def test_an_answer_has_the_shape_that_the_api_gives_it(
    action: str, result: dict[str, Any], why: str
) -> None:
    state = {"Type": "Task", "Resource": f"arn:aws:states:::{action}", "End": True}

    with pytest.raises(StateTestRefused, match=why):
        run_state(state, {}, mock=MockedResult(result))


def test_what_the_api_gives_is_an_answer() -> None:
    item = {
        "id": {"S": "a"},
        "n": {"N": "1"},
        "l": {"L": [{"M": {"b": {"BOOL": True}}}, {"NULL": True}]},
        "s": {"SS": ["x"]},
    }
    result = {"Item": item, "ConsumedCapacity": {"CapacityUnits": 0.5}, "Unknown": [1]}
    state = {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "End": True}

    assert run_state(state, {}, mock=MockedResult(result)).output == result
