"""States that nothing leads to, and what is told of them."""

from __future__ import annotations

from typing import Any

from asl_builders import machine_of

from dcf.asl import validate
from dcf.asl.checks.rejection import rejection

END = {"Type": "Pass", "End": True}


def to(target: str) -> dict[str, Any]:
    return {"Type": "Pass", "Next": target}


def test_an_island_of_states_is_told_as_what_it_is() -> None:
    problems = validate(machine_of(A=END, B=to("C"), C=END))

    assert [(p.code, p.message) for p in problems] == [
        ("ASL_UNREACHABLE_STATE", "`B` cannot be reached from `StartAt`"),
        ("ASL_UNREACHABLE_STATE", "`C` cannot be reached from `StartAt`"),
    ]


def test_the_consequences_of_a_dangling_transition_are_not_listed() -> None:
    definition = machine_of(A=to("Bx"), B=to("C"), C=to("D"), D=END)

    [problem] = validate(definition)

    assert (problem.code, problem.path) == ("ASL_UNKNOWN_STATE", "/States/A/Next")


def test_nor_those_of_a_missing_transition() -> None:
    [problem] = validate(machine_of(A={"Type": "Pass"}, B=END))

    assert (problem.code, problem.path) == ("ASL_NO_TRANSITION", "/States/A")


def test_aws_lists_them_all_the_same() -> None:
    refused = rejection(machine_of(A=to("Bx"), B=to("C"), C=END))

    assert refused is not None
    assert [one.location for one in refused.diagnostics] == [
        "/States/A/Next",
        "/States/B",
        "/States/C",
    ]


def test_a_dangling_transition_on_an_island_excuses_nothing() -> None:
    problems = validate(machine_of(A=END, B=to("Nowhere")))

    assert {p.code for p in problems} == {"ASL_UNKNOWN_STATE", "ASL_UNREACHABLE_STATE"}


def test_a_hint_lists_few_names() -> None:
    states = {f"State{number}": END for number in range(30)}

    hint = validate(machine_of(A=to("?"), **states))[0].hint

    assert hint.startswith("known here: ")
    assert hint.count("`") == 16
    assert hint.endswith(" and 23 more")
