"""What holds of every picture, whatever the machine."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from campaigns import campaign, settled
from diagram_machines import Definition, check_geometry, machines
from hypothesis import given, settings

from dcf.diagram.boxes import arrange
from dcf.diagram.chart import REFERENCE
from dcf.diagram.reading import read_chart
from dcf.diagram.shapes import Box, Direction
from dcf.diagram.svg import to_svg

pytestmark = settled("control_plane", "dcf/diagram", "requirements/dev.txt", "tests/unit/diagram")

_WORKFLOWS = sorted((Path(__file__).parents[3] / "workflows").glob("*.json"))

both_ways = pytest.mark.parametrize("direction", ["down", "right"])


@both_ways
@campaign(shares=3)
@given(definition=machines())
@settings(max_examples=25, deadline=None)
def test_nothing_overlaps_and_lines_go_round(
    share: int, direction: Direction, definition: Definition
) -> None:
    check_geometry(arrange(read_chart(definition), direction=direction))


@both_ways
@pytest.mark.parametrize("file", _WORKFLOWS, ids=lambda file: file.stem)
def test_nothing_overlaps_in_the_example_workflows(file: Path, direction: Direction) -> None:
    chart = read_chart(json.loads(file.read_text("utf-8")))
    assert chart.problems == ()
    check_geometry(arrange(chart, direction=direction))


@given(definition=machines())
@settings(max_examples=50, deadline=None)
def test_the_same_machine_is_drawn_the_same_way(definition: Definition) -> None:
    first, second = (to_svg(arrange(read_chart(definition)), "m") for _ in range(2))
    assert first == second


def _chain(count: int) -> Definition:
    """Each state goes on to the next; all share a handler, every tenth may go back."""
    states: Definition = {"Handler": {"Type": "Fail"}, "Last": {"Type": "Succeed"}}
    for number in range(count):
        next_ = f"S{number + 1}" if number < count - 1 else "Last"
        catch = [{"ErrorEquals": ["States.ALL"], "Next": "Handler"}]
        states[f"S{number}"] = {"Type": "Task", "Next": next_, "Catch": catch}
        if number % 10 == 9:
            rule = {"Variable": "$.again", "BooleanEquals": True, "Next": f"S{number - 9}"}
            states[f"S{number}"] = {"Type": "Choice", "Choices": [rule], "Default": next_}
    return {"StartAt": "S0", "States": states}


def _fan(count: int) -> Definition:
    """One state chooses between all others, which meet again."""
    rules = [
        {"Variable": "$.n", "NumericEquals": number, "Next": f"S{number}"}
        for number in range(count)
    ]
    states: Definition = {"Which": {"Type": "Choice", "Choices": rules, "Default": "Last"}}
    states |= {f"S{number}": {"Type": "Pass", "Next": "Last"} for number in range(count)}
    return {"StartAt": "Which", "States": {**states, "Last": {"Type": "Succeed"}}}


@pytest.mark.parametrize("make", [_chain, _fan])
def test_a_thousand_states_take_seconds(make: object) -> None:
    assert callable(make)
    began = time.process_time()
    to_svg(arrange(read_chart(make(1000))), "big")
    assert time.process_time() - began < 10


@pytest.mark.parametrize("make", [_chain, _fan])
def test_big_machines_keep_the_rules(make: object) -> None:
    assert callable(make)
    check_geometry(arrange(read_chart(make(60))))


def _tangle(count: int) -> Definition:
    """States that jump anywhere."""
    states: Definition = {}
    for number in range(count):
        rules = [
            {"Condition": f"{{% $n = {step} %}}", "Next": f"S{(number * step + step) % count}"}
            for step in (7, 13, 29, 31, 37)
        ]
        default = f"S{(number + 1) % count}"
        states[f"S{number}"] = {"Type": "Choice", "Choices": rules, "Default": default}
    return {"StartAt": "S0", "States": states}


def _references(definition: Definition) -> list[str]:
    shapes = arrange(read_chart(definition)).shapes
    boxes = [shape for shape in shapes if isinstance(shape, Box)]
    return [box.node.name for box in boxes if box.node.type == REFERENCE]


def test_a_tangle_names_far_targets_instead_of_drawing_every_line() -> None:
    definition = _tangle(60)
    assert set(_references(definition)) <= set(definition["States"])
    assert _references(definition)
    check_geometry(arrange(read_chart(definition)))


def test_machines_of_usual_size_show_every_line() -> None:
    assert _references(_tangle(20)) == []
    assert _references(_chain(200)) == []
    assert _references(_fan(200)) == []
