"""Variables: what Assign sets, what it sees, and where it can be read."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import echo, enter, machine_of, react, run

from dcf.asl import (
    Joined,
    TaskCall,
    TaskFailed,
    TaskSucceeded,
    TimerFired,
    Transition,
)

TASK = {"Type": "Task", "Resource": "work"}
END = {"Type": "Pass", "End": True}


def reading(**fields: str) -> dict[str, Any]:
    """A Pass at the end that gives what ``fields`` find."""
    return {"Type": "Pass", "Parameters": fields, "End": True}


def test_a_variable_is_there_in_all_later_states() -> None:
    definition = machine_of(
        A={"Type": "Pass", "Assign": {"x": 1}, "Next": "B"},
        B={"Type": "Pass", "Result": "other", "Next": "C"},
        C=reading(**{"x.$": "$x"}),
    )

    assert run(definition, {}).output == {"x": 1}


def test_a_step_gives_what_it_assigns() -> None:
    effect = enter({"Type": "Pass", "Assign": {"x.$": "$.a", "y": [1]}}, {"a": 5})

    assert effect == Transition("Next", {"a": 5}, {"x": 5, "y": [1]})


def test_every_expression_of_a_state_sees_the_old_values() -> None:
    definition = machine_of(
        A={"Type": "Pass", "Assign": {"x": 1, "y": 2}, "Next": "B"},
        B={
            "Type": "Pass",
            "Assign": {"x.$": "$y", "y.$": "$x"},
            "Parameters": {"seen.$": "$x"},
            "ResultPath": "$.b",
            "OutputPath": "$.b",
            "Next": "C",
        },
        C=reading(**{"x.$": "$x", "y.$": "$y", "seen.$": "$.seen"}),
    )

    assert run(definition, {}).output == {"x": 2, "y": 1, "seen": 1}


def test_in_jsonata_output_sees_the_old_values_too() -> None:
    definition = machine_of(
        A={"Type": "Pass", "Assign": {"x": 1}, "Next": "B"},
        B={
            "Type": "Pass",
            "Assign": {"x": "{% $x + 1 %}", "y": "{% $x %}"},
            "Output": "{% $x %}",
            "Next": "C",
        },
        C={"Type": "Pass", "Output": ["{% $x %}", "{% $y %}", "{% $states.input %}"], "End": True},
    )

    assert run({"QueryLanguage": "JSONata", **definition}, {}).output == [2, 1, 1]


@pytest.mark.parametrize(
    ("state", "event"),
    [
        ({**TASK, "ResultPath": None}, TaskSucceeded("result")),
        (
            {"Type": "Map", "ItemProcessor": machine_of(P=END), "ResultPath": None},
            Joined(["result"]),
        ),
        (
            {"Type": "Parallel", "Branches": [machine_of(P=END)], "ResultPath": None},
            Joined(["result"]),
        ),
    ],
)
def test_assign_of_a_state_with_work_sees_the_result(state: dict[str, Any], event: Any) -> None:
    effect = react({**state, "Assign": {"x.$": "$"}}, ["in"], event)

    assert effect.assign == {"x": getattr(event, "result", None) or event.results}
    assert effect.output == ["in"]


def test_assign_of_a_pass_sees_its_result_or_parameters() -> None:
    assign = {"Assign": {"x.$": "$"}}

    assert enter({"Type": "Pass", "Result": 1, **assign}, 0).assign == {"x": 1}
    assert enter({"Type": "Pass", "Parameters": {"a": 2}, **assign}, 0).assign == {"x": {"a": 2}}
    assert enter({"Type": "Pass", **assign}, 0).assign == {"x": 0}


def test_assign_of_a_wait_sees_the_effective_input() -> None:
    state = {"Type": "Wait", "Seconds": 1, "InputPath": "$.a", "Assign": {"x.$": "$"}}

    assert react(state, {"a": 3}, TimerFired()).assign == {"x": 3}


def choice(jsonata: bool = False) -> dict[str, Any]:
    rule = (
        {"Condition": "{% $states.input.n > 1 %}", "Assign": {"x": "{% $states.input.n %}"}}
        if jsonata
        else {"Variable": "$.n", "NumericGreaterThan": 1, "Assign": {"x.$": "$.n"}}
    )
    language = {"QueryLanguage": "JSONata"} if jsonata else {}
    return {
        "Type": "Choice",
        "Choices": [{**rule, "Next": "Next"}],
        "Default": "Next",
        "Assign": {"x": "default"},
        **language,
    }


@pytest.mark.parametrize("jsonata", [False, True])
def test_a_choice_assigns_what_its_matching_rule_says_else_its_own(jsonata: bool) -> None:
    assert enter(choice(jsonata), {"n": 2}).assign == {"x": 2}
    assert enter(choice(jsonata), {"n": 1}).assign == {"x": "default"}


def test_a_catcher_assigns_from_the_error() -> None:
    catch = {"ErrorEquals": ["States.ALL"], "Assign": {"why.$": "$.Cause"}, "Next": "Next"}

    effect = react({**TASK, "Assign": {"ok": True}, "Catch": [catch]}, {}, TaskFailed("E", "c"))

    assert effect.assign == {"why": "c"}


def test_a_catcher_in_jsonata_assigns_from_the_error() -> None:
    catch = {
        "ErrorEquals": ["States.ALL"],
        "Assign": {"e": "{% $states.errorOutput.Error %}"},
        "Next": "Next",
    }

    effect = react({**TASK, "QueryLanguage": "JSONata", "Catch": [catch]}, {}, TaskFailed("E", "c"))

    assert effect.assign == {"e": "E"}


def around(inner: dict[str, Any]) -> dict[str, Any]:
    """``inner`` states twice at once, x = 1 before, and what x is afterwards."""
    return machine_of(
        A={"Type": "Pass", "Assign": {"x": 1}, "Result": [0, 0], "Next": "M"},
        M={"Type": "Map", "ItemProcessor": machine_of(**inner), "ResultPath": "$", "Next": "Z"},
        Z=reading(**{"x.$": "$x", "inside.$": "$"}),
    )


def test_inside_a_map_outer_variables_are_read_and_inner_ones_vanish() -> None:
    inner = {
        "B": {"Type": "Pass", "Assign": {"y.$": "States.MathAdd($x, 1)"}, "Next": "C"},
        "C": {"Type": "Pass", "Parameters": {"x.$": "$x", "y.$": "$y"}, "End": True},
    }

    assert run(around(inner), {}).output == {"x": 1, "inside": [{"x": 1, "y": 2}] * 2}


def test_branches_do_not_see_the_variables_of_one_another() -> None:
    branch = machine_of(
        B={"Type": "Wait", "Seconds": 1, "Assign": {"y.$": "$$.State.Name"}, "Next": "C"},
        C=reading(**{"y.$": "$y"}),
    )
    other = {
        "StartAt": "D",
        "States": {
            "D": {"Type": "Wait", "Seconds": 1, "Assign": {"y.$": "$$.State.Name"}, "Next": "E"},
            "E": reading(**{"y.$": "$y"}),
        },
    }
    definition = machine_of(P={"Type": "Parallel", "Branches": [branch, other], "End": True})

    assert run(definition, {}).output == [{"y": "B"}, {"y": "D"}]


def test_item_selector_and_limits_of_a_map_read_variables() -> None:
    definition = machine_of(
        A={"Type": "Pass", "Assign": {"xs": [1, 2], "window": "1"}, "Next": "M"},
        M={
            "Type": "Map",
            "ItemsPath": "$xs",
            "MaxConcurrencyPath": "$window",
            "ItemSelector": {"all.$": "$xs", "one.$": "$$.Map.Item.Value"},
            "ItemProcessor": machine_of(P=END),
            "End": True,
        },
    )

    assert run(definition, {}).output == [{"all": [1, 2], "one": 1}, {"all": [1, 2], "one": 2}]


def test_a_state_tried_again_sees_the_same_variables() -> None:
    seen: list[Any] = []

    def flaky(call: TaskCall) -> Any:
        seen.append(call.arguments)
        return TaskFailed("E", "") if len(seen) < 3 else echo(call)

    definition = machine_of(
        A={"Type": "Pass", "Assign": {"x": 7}, "Next": "B"},
        B={
            **TASK,
            "Parameters": {"x.$": "$x"},
            "Retry": [{"ErrorEquals": ["E"]}],
            "Assign": {"x": 8},
            "End": True,
        },
    )

    run(definition, {}, call_task=flaky)

    assert seen == [{"x": 7}] * 3


def test_a_variable_without_a_value_is_a_runtime_error() -> None:
    assert enter({"Type": "Pass", "Parameters": {"x.$": "$x"}}, {}).error == "States.Runtime"
