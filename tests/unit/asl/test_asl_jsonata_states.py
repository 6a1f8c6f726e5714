"""States that speak JSONata: Arguments, Output, conditions and typed fields."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import alone, enter, machine_of, react, run

from dcf.asl import (
    ChildFailed,
    Failure,
    FanOut,
    Finish,
    Joined,
    RunTask,
    TaskFailed,
    TaskSucceeded,
    TimerFired,
    Transition,
    WaitFor,
    WaitUntil,
    parse,
)

TASK = {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "work"}
PASS = {"Type": "Pass", "QueryLanguage": "JSONata"}


def jsonata(state: dict[str, Any]) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", **state}


def test_the_language_of_the_machine_holds_in_every_state() -> None:
    definition = machine_of(A={"Type": "Pass", "Output": "{% $states.input.n + 1 %}", "End": True})

    assert run({"QueryLanguage": "JSONata", **definition}, {"n": 1}).output == 2


def test_a_state_may_speak_jsonata_in_a_jsonpath_machine() -> None:
    definition = machine_of(
        A={**PASS, "Output": {"m": "{% $states.input.n * 2 %}"}, "Next": "B"},
        B={"Type": "Pass", "Parameters": {"k.$": "$.m"}, "End": True},
    )

    assert run(definition, {"n": 21}).output == {"k": 42}


def test_the_language_of_a_map_is_not_that_of_the_states_inside() -> None:
    inner = machine_of(P={"Type": "Pass", "Parameters": {"v.$": "$"}, "End": True})
    definition = machine_of(
        M=jsonata({"Type": "Map", "Items": [1, 2], "ItemProcessor": inner, "End": True})
    )

    assert run(definition, {}).output == [{"v": 1}, {"v": 2}]


def test_a_pass_without_output_gives_its_input() -> None:
    assert enter(PASS, {"a": 1}).output == {"a": 1}


def test_output_may_be_any_json_with_expressions_in_it() -> None:
    output = {"a": ["{% $states.input.n %}", "text", {"b": "{% 1 + 1 %}"}], "c": None}

    assert enter({**PASS, "Output": output}, {"n": 7}).output == {
        "a": [7, "text", {"b": 2}],
        "c": None,
    }


def test_a_task_gets_its_arguments() -> None:
    state = {**TASK, "Arguments": {"id": "{% $states.input.order.id %}"}}

    assert enter(state, {"order": {"id": 5}}) == RunTask({"id": 5}, None, None)


def test_a_task_without_arguments_gets_its_input() -> None:
    assert enter(TASK, {"a": 1}).arguments == {"a": 1}


def test_the_output_of_a_task_is_its_result() -> None:
    assert react(TASK, {"a": 1}, TaskSucceeded("done")).output == "done"


def test_output_sees_input_result_and_context() -> None:
    output = {
        "i": "{% $states.input.a %}",
        "r": "{% $states.result.b %}",
        "n": "{% $states.context.State.Name %}",
    }

    effect = react({**TASK, "Output": output}, {"a": 1}, TaskSucceeded({"b": 2}))

    assert effect.output == {"i": 1, "r": 2, "n": "S"}


def test_there_is_no_result_before_the_work() -> None:
    effect = enter({**TASK, "Arguments": {"x": "{% $lookup($states, 'result') %}"}}, {})

    assert isinstance(effect, Failure)
    assert effect.error == "States.QueryEvaluationError"


def test_an_undefined_value_is_an_error() -> None:
    effect = enter({**PASS, "Output": "{% $states.input.nothing %}"}, {})

    assert effect.error == "States.QueryEvaluationError"
    assert effect.cause.startswith("An error occurred while executing the state 'S'. ")


@pytest.mark.parametrize(("number", "target"), [(1, "Next"), (5, "Big")])
def test_a_choice_takes_the_rule_whose_condition_is_true(number: int, target: str) -> None:
    definition = machine_of(
        S=jsonata(
            {
                "Type": "Choice",
                "Choices": [{"Condition": "{% $states.input > 3 %}", "Next": "Big"}],
                "Default": "Next",
            }
        ),
        Big={"Type": "Pass", "Result": "Big", "End": True},
        Next={"Type": "Pass", "Result": "Next", "End": True},
    )

    assert run(definition, number).output == target


def test_a_condition_must_be_a_boolean() -> None:
    state = {
        "Type": "Choice",
        "Choices": [{"Condition": "{% 1 %}", "Next": "Next"}],
        "Default": "Next",
    }

    effect = enter(jsonata(state), {})

    assert effect == Failure(
        "States.QueryEvaluationError",
        "An error occurred while executing the state 'S'. The JSONata expression '1' specified "
        "for the field 'Choices[0]/Condition' returned an unexpected result type. Expected "
        "'boolean', but was 'number' for value: 1",
    )


def test_a_rule_has_its_own_output_and_the_state_one_for_the_default() -> None:
    state = jsonata(
        {
            "Type": "Choice",
            "Choices": [{"Condition": "{% $states.input %}", "Output": "rule", "Next": "Next"}],
            "Default": "Next",
            "Output": "default",
        }
    )

    assert (enter(state, True).output, enter(state, False).output) == ("rule", "default")


def test_a_wait_computes_its_time() -> None:
    assert enter(jsonata({"Type": "Wait", "Seconds": "{% 2 * 3 %}"}), {}) == WaitFor(6.0)
    moment = jsonata({"Type": "Wait", "Timestamp": "{% $states.input %}"})
    assert enter(moment, "1970-01-01T00:01:00Z") == WaitUntil(60.0)


@pytest.mark.parametrize(
    "fields",
    [
        {"Seconds": "{% 'soon' %}"},
        {"Seconds": "{% 1.5 %}"},
        {"Timestamp": "{% 5 %}"},
        {"Timestamp": "{% 'tomorrow' %}"},
    ],
)
def test_a_wait_that_computes_no_time_is_an_evaluation_error(fields: dict[str, str]) -> None:
    effect = enter(jsonata({"Type": "Wait", **fields}), {})

    assert effect.error == "States.QueryEvaluationError"


def test_after_its_timer_a_wait_gives_its_output() -> None:
    state = jsonata({"Type": "Wait", "Seconds": 1, "Output": "{% $states.input.a %}"})

    assert react(state, {"a": 9}, TimerFired()).output == 9


def test_fail_computes_error_and_cause() -> None:
    state = {"Type": "Fail", "Error": "{% 'My' & 'Error' %}", "Cause": "{% $states.input %}"}

    assert enter(jsonata(state), "why") == Failure("MyError", "why")


def test_succeed_computes_its_output() -> None:
    state = jsonata({"Type": "Succeed", "Output": "{% $states.input.a %}"})

    assert enter(state, {"a": 1}) == Finish(1, {})


def test_a_parallel_gives_every_branch_its_arguments() -> None:
    branch = machine_of(B={"Type": "Pass", "End": True})
    state = jsonata({"Type": "Parallel", "Branches": [branch], "Arguments": {"a": "{% 1 %}"}})

    assert enter(state, {}) == FanOut(1, None, {"a": 1}, 0)


def test_catch_shows_the_error_in_states_error_output() -> None:
    catch = {
        "ErrorEquals": ["States.ALL"],
        "Output": {"e": "{% $states.errorOutput.Error %}", "i": "{% $states.input %}"},
        "Next": "Next",
    }

    effect = react({**TASK, "Catch": [catch]}, "in", TaskFailed("E", "c"))

    assert effect == Transition("Next", {"e": "E", "i": "in"}, {})


def test_without_output_catch_gives_the_error() -> None:
    catch = {"ErrorEquals": ["E"], "Next": "Next"}

    effect = react({**TASK, "Catch": [catch]}, "in", TaskFailed("E", "c"))

    assert effect.output == {"Error": "E", "Cause": "c"}


def test_catch_has_no_result() -> None:
    reading = "{% $lookup($states, 'result') %}"
    catch = {"ErrorEquals": ["States.ALL"], "Output": reading, "Next": "Next"}

    effect = react({**TASK, "Catch": [catch]}, "in", TaskFailed("E", "c"))

    assert (type(effect), effect.error) == (Failure, "States.QueryEvaluationError")


def map_state(**fields: Any) -> dict[str, Any]:
    inner = machine_of(P={"Type": "Pass", "End": True})
    return jsonata({"Type": "Map", "ItemProcessor": inner, **fields})


def test_items_may_be_computed_or_written_down() -> None:
    assert enter(map_state(Items="{% [1..3] %}"), {}).items == [1, 2, 3]
    assert enter(map_state(Items=["{% 1 %}", 2]), {}).items == [1, 2]
    assert enter(map_state(), [4]).items == [4]


def test_items_must_be_an_array() -> None:
    effect = enter(map_state(Items="{% 1 %}"), {})

    assert effect.cause.endswith(
        "The JSONata expression '1' specified for the field 'Items' returned an unexpected result "
        "type. Expected 'array', but was 'number' for value: 1"
    )


def test_without_items_the_input_must_be_an_array() -> None:
    effect = enter(map_state(), {"foo": 1})

    assert effect.error == "States.QueryEvaluationError"
    assert effect.cause.endswith('. Map state input must be an array but was: {"foo":1}')


def test_an_item_selector_sees_the_item_in_the_context() -> None:
    selector = {
        "v": "{% $states.context.Map.Item.Value %}",
        "n": "{% $states.context.Map.Item.Index %}",
        "i": "{% $states.input.tag %}",
    }
    definition = machine_of(
        M={**map_state(Items="{% $states.input.xs %}", ItemSelector=selector), "End": True}
    )

    assert run(definition, {"xs": ["a", "b"], "tag": "t"}).output == [
        {"v": "a", "n": 0, "i": "t"},
        {"v": "b", "n": 1, "i": "t"},
    ]


def test_the_output_of_a_map_may_use_its_results() -> None:
    effect = react(map_state(Output="{% $sum($states.result) %}"), [1, 2], Joined([1, 2]))

    assert effect.output == 3


def test_a_failed_child_is_caught() -> None:
    state = map_state(Catch=[{"ErrorEquals": ["E"], "Next": "Next"}])

    assert react(state, [1], ChildFailed("E", "c")).output == {"Error": "E", "Cause": "c"}


def test_numbers_of_a_task_and_a_map_may_be_computed() -> None:
    task = {**TASK, "TimeoutSeconds": "{% 2 + 3 %}", "HeartbeatSeconds": "{% 1 + 1 %}"}

    assert enter(task, {}) == RunTask({}, 5.0, 2.0)
    assert enter(map_state(MaxConcurrency="{% 2 * 2 %}"), [1]).max_concurrency == 4


def test_a_computed_number_must_not_be_negative() -> None:
    effect = enter(map_state(MaxConcurrency="{% -1 %}"), [1])

    assert effect.error == "States.QueryEvaluationError"
    assert effect.cause.endswith("MaxConcurrency cannot be negative.")


def test_nothing_is_evaluated_outside_of_the_delimiters() -> None:
    parse(alone(PASS))

    assert enter({**PASS, "Output": {"a.$": "$", "b": "$states"}}, 1).output == {
        "a.$": "$",
        "b": "$states",
    }
