"""Variables that are read in the state that assigns them."""

from __future__ import annotations

from typing import Any

import pytest
from asl_builders import machine_of

from dcf.asl import validate


def early(definition: dict[str, Any]) -> list[str]:
    problems = validate(definition)
    assert {(p.code, p.severity) for p in problems} <= {("ASL_VARIABLE_TOO_EARLY", "warning")}
    return [problem.path for problem in problems]


def jsonata(**states: dict[str, Any]) -> dict[str, Any]:
    return {"QueryLanguage": "JSONata", **machine_of(**states)}


def test_output_and_assign_see_the_values_of_before() -> None:
    assigned = {"total": 1, "twice": "{% $total * 2 %}"}
    state = {"Type": "Pass", "Assign": assigned, "Output": {"sum": "{% $total %}"}, "End": True}

    assert early(jsonata(A=state)) == ["/States/A/Assign/twice", "/States/A/Output/sum"]


def test_in_jsonpath_too() -> None:
    state = {"Type": "Pass", "Assign": {"a": 1, "b.$": "$a"}, "End": True}

    assert early(machine_of(A=state)) == ["/States/A/Assign/b.$"]


def test_the_next_state_may_read() -> None:
    first = {"Type": "Pass", "Assign": {"total": 1}, "Next": "B"}

    assert early(jsonata(A=first, B={"Type": "Succeed", "Output": "{% $total %}"})) == []


def test_a_variable_that_another_state_assigns_too() -> None:
    first = {"Type": "Pass", "Assign": {"total": 1}, "Next": "B"}
    second = {"Type": "Pass", "Assign": {"total": "{% $total + 1 %}"}, "End": True}

    assert early(jsonata(A=first, B=second)) == []


@pytest.mark.parametrize("assigned", ["{% $append($items, 1) %}", "{% $items ? $items : [] %}"])
def test_a_loop_that_starts_from_nothing(assigned: str) -> None:
    step = {"Type": "Pass", "Assign": {"items": assigned}, "Next": "Enough"}
    rule = {"Condition": "{% $count($items) < 3 %}", "Next": "Step"}
    choice = {"Type": "Choice", "Choices": [rule], "Default": "Done"}

    assert early(jsonata(Step=step, Enough=choice, Done={"Type": "Succeed"})) == []


def test_what_comes_before_and_after_a_loop_is_not_in_it() -> None:
    slip = {"Type": "Pass", "Assign": {"a": 1}, "Output": "{% $a %}"}
    other = {"Type": "Pass", "Assign": {"b": 1}, "Output": "{% $b %}", "End": True}
    rule = {"Condition": "{% $states.input > 1 %}", "Next": "Loop"}
    choice = {"Type": "Choice", "Choices": [rule], "Default": "After"}

    definition = jsonata(Before={**slip, "Next": "Loop"}, Loop=choice, After=other)

    assert early(definition) == ["/States/Before/Output", "/States/After/Output"]
