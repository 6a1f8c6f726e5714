"""Transitions: what leads nowhere, what nothing leads to, what cannot end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from asl_builders import codes, machine_of

from dcf.asl import validate

LOOP = {"StartAt": "B", "States": {"B": {"Type": "Pass", "Next": "B"}}}


def passes(*names: str) -> dict[str, dict[str, Any]]:
    """A chain of Pass states; the last one ends."""
    chain = pairwise(names)
    states: dict[str, dict[str, Any]] = {a: {"Type": "Pass", "Next": b} for a, b in chain}
    return {**states, names[-1]: {"Type": "Pass", "End": True}}


def test_a_machine_without_an_end_is_not_searched_for_unreachable_states() -> None:
    definition = machine_of(A={"Type": "Pass", "Next": "A"}, B={"Type": "Pass", "Next": "A"})

    assert codes(definition) == [("ASL_NO_TERMINAL_STATE", "/States")]


def test_an_end_that_nothing_reaches_is_the_unreachable_state() -> None:
    definition = machine_of(A={"Type": "Pass", "Next": "A"}, B={"Type": "Succeed"})

    assert ("ASL_UNREACHABLE_STATE", "/States/B") in codes(definition)


def test_an_inner_machine_may_loop_for_ever() -> None:
    definition = machine_of(P={"Type": "Parallel", "Branches": [LOOP], "End": True})

    problems = validate(definition)

    assert [(p.code, p.severity) for p in problems] == [("ASL_CYCLE_WITHOUT_EXIT", "warning")]


def test_a_cycle_that_nothing_leads_to_is_unreachable() -> None:
    states = {**passes("A", "B"), "X": {"Type": "Pass", "Next": "Y"}}
    definition = machine_of(**states, Y={"Type": "Pass", "Next": "X"})

    found = codes(definition)

    assert ("ASL_UNREACHABLE_STATE", "/States/X") in found
    assert ("ASL_UNREACHABLE_STATE", "/States/Y") in found


def test_separate_endless_loops_are_told_apart() -> None:
    rule = {"Variable": "$.n", "NumericEquals": 1, "Next": "L"}
    other = {"Variable": "$.n", "NumericEquals": 2, "Next": "M"}
    definition = machine_of(
        C={"Type": "Choice", "Choices": [rule, other], "Default": "Z"},
        L={"Type": "Pass", "Next": "L"},
        M={"Type": "Pass", "Next": "M"},
        Z={"Type": "Succeed"},
    )

    warned = [p.path for p in validate(definition) if p.code == "ASL_CYCLE_WITHOUT_EXIT"]

    assert warned == ["/States/L", "/States/M"]


def test_a_message_lists_few_of_many_states() -> None:
    names = [f"L{number}" for number in range(40)]
    states = passes(*names)
    states["L39"] = {"Type": "Pass", "Next": "L0"}
    rule = {"Variable": "$.n", "NumericEquals": 1, "Next": "L0"}
    definition = machine_of(
        C={"Type": "Choice", "Choices": [rule], "Default": "Z"}, **states, Z={"Type": "Succeed"}
    )

    [problem] = validate(definition)

    assert "and 35 more" in problem.message


def test_many_typos_are_all_reported_and_the_first_get_suggestions() -> None:
    states: dict[str, Any] = {
        f"State{number}": {"Type": "Pass", "Next": f"Stat{number}"} for number in range(60)
    }
    unknown = [p for p in validate(machine_of(**states)) if p.code == "ASL_UNKNOWN_STATE"]

    assert len(unknown) == 60
    assert unknown[0].hint.startswith("did you mean")
