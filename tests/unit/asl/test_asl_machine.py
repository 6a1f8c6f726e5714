"""StateMachine.locate: a state by its path."""

from __future__ import annotations

import pytest
from asl_builders import machine_of

from dcf.asl import StateMachine, UnknownState, parse


@pytest.fixture
def machine() -> StateMachine:
    fetch = {"StartAt": "Fetch", "States": {"Fetch": {"Type": "Succeed"}}}
    left = {"StartAt": "Left", "States": {"Left": {"Type": "Succeed"}}}
    right = {"StartAt": "Right", "States": {"Right": {"Type": "Succeed"}}}
    return parse(
        machine_of(
            Fan={"Type": "Map", "ItemProcessor": fetch, "Next": "Both"},
            Both={"Type": "Parallel", "Branches": [left, right], "End": True},
        )
    )


def test_a_number_after_a_map_is_any_iteration(machine: StateMachine) -> None:
    assert machine.locate(["Fan", 2, "Fetch"]).name == "Fetch"


def test_a_number_after_a_parallel_is_a_branch(machine: StateMachine) -> None:
    assert machine.locate(["Both", 1, "Right"]).name == "Right"


@pytest.mark.parametrize(
    "path",
    [
        [],
        ["Nope"],
        ["Fan", "Fetch"],
        ["Fan", 2],
        ["Fan", -1, "Fetch"],
        ["Both", 2, "Left"],
        ["Both", 0, "Right"],
        [0, "Fan"],
    ],
)
def test_a_path_to_nothing_is_an_unknown_state(
    machine: StateMachine, path: list[str | int]
) -> None:
    with pytest.raises(UnknownState):
        machine.locate(path)


def test_a_machine_and_its_states_are_values(machine: StateMachine) -> None:
    state = machine.states["Fan"]

    with pytest.raises(AttributeError):
        state.name = "Other"  # type: ignore[misc]
    assert (state.type, state.next, state.end) == ("Map", "Both", False)
