"""Damaged definitions: checking never raises, what passes can be parsed, and cost is linear."""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcf.asl import diagnostics, parse, place, read_json, rejection, validate, variable_references
from dcf.asl.checks.problem_codes import PROBLEM_CODES
from dcf.problem import has_errors

SOUND: dict[str, Any] = {
    "StartAt": "Check",
    "TimeoutSeconds": 60,
    "States": {
        "Check": {
            "Type": "Choice",
            "Choices": [
                {"And": [{"Variable": "$.n", "NumericGreaterThan": 1}], "Next": "Fan"},
                {"Not": {"Variable": "$x.y", "IsPresent": True}, "Next": "Both"},
            ],
            "Default": "Work",
        },
        "Work": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"a.$": "States.Format('{}', $.a)", "b": [{"c.$": "$$.Execution.Id"}]},
            "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2, "BackoffRate": 1.5}],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.e", "Next": "Wait"}],
            "Assign": {"x.$": "$.x"},
            "Next": "Wait",
        },
        "Wait": {"Type": "Wait", "Seconds": 3, "Next": "Both"},
        "Both": {
            "Type": "Parallel",
            "QueryLanguage": "JSONata",
            "Branches": [
                {"StartAt": "B", "States": {"B": {"Type": "Pass", "End": True}}},
                {"StartAt": "C", "States": {"C": {"Type": "Fail", "Error": "E"}}},
            ],
            "Output": {"sum": "{% $sum($states.result.n) + $x %}"},
            "Next": "Fan",
        },
        "Fan": {
            "Type": "Map",
            "ItemProcessor": {
                "ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
                "StartAt": "D",
                "States": {"D": {"Type": "Succeed"}},
            },
            "ItemReader": {
                "Resource": "arn:aws:states:::s3:getObject",
                "ReaderConfig": {"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"},
                "Parameters": {"Bucket": "b", "Key.$": "$.key"},
            },
            "ItemBatcher": {"MaxItemsPerBatch": 10},
            "Label": "fan",
            "ToleratedFailurePercentage": 5,
            "End": True,
        },
    },
}
JUNK = (None, True, 0, -1, 1e308, "", "$", "$.", "$[", "{% %}", "{% ( %}", "States.Array(", [], {})


def holders(value: Any) -> list[Any]:
    """Every object and array in ``value`` that is not empty."""
    found, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        inner = item.values() if isinstance(item, dict) else item
        if isinstance(item, (dict, list)) and item:
            found.append(item)
            waiting.extend(inner)
    return found


def damaged(value: Any, rng: random.Random, times: int) -> Any:
    """``value`` with members removed, renamed, replaced by junk or by one another."""
    value = copy.deepcopy(value)
    for _ in range(times):
        everywhere = holders(value)
        if not everywhere:
            break
        holder = rng.choice(everywhere)
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = rng.choice(keys)
        change = rng.randrange(4)
        if change == 0:
            del holder[key]
        elif change == 1:
            holder[key] = copy.deepcopy(rng.choice(JUNK))
        elif change == 2:
            holder[key] = copy.deepcopy(rng.choice(everywhere))
        elif isinstance(holder, dict):
            holder[f"{key}Path" if rng.random() < 0.5 else f"{key}.$"] = holder.pop(key)
    return value


def test_the_sound_one_is_sound() -> None:
    assert not has_errors(validate(SOUND))
    assert rejection(SOUND) is None


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_what_validates_parses_and_nothing_raises(seed: int, times: int) -> None:
    rng = random.Random(seed)
    examples = [entry.example for entry in PROBLEM_CODES.values()]
    described = [example for example in examples if isinstance(example, dict)]
    definition = damaged(rng.choice([SOUND, SOUND, *described]), rng, times)

    problems = validate(definition)

    assert has_errors(problems) or parse(definition)
    assert all(problem.message and problem.hint for problem in problems)
    variable_references(definition)
    refused = rejection(definition, "EXPRESS")
    assert refused is None or refused.cause.startswith("Invalid State Machine Definition: '")
    text = json.dumps(definition)
    assert len(place(problems, text)) == len(problems)


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text('{}[]",:01eE.-nutrflase \\'))
def test_any_text_is_judged(text: str) -> None:
    read_json(text)
    assert diagnostics(text)


def chain(states: int) -> dict[str, Any]:
    """A machine of that many states of several kinds."""
    described: dict[str, Any] = {}
    for number in range(states):
        following = f"S{number + 1}"
        rule = {"Variable": "$.n", "NumericEquals": number, "Next": following}
        kinds: tuple[dict[str, Any], ...] = (
            {"Type": "Pass", "Parameters": {"v.$": "$.a.b"}, "Next": following},
            {"Type": "Choice", "Choices": [rule], "Default": following},
            {"Type": "Pass", "Next": f"Typo{number}"},
            {
                "Type": "Pass",
                "QueryLanguage": "JSONata",
                "Output": f"{{% $x + {number} %}}",
                "Next": following,
            },
        )
        described[f"S{number}"] = kinds[number % 4]
    return {"StartAt": "S0", "States": {**described, f"S{states}": {"Type": "Succeed"}}}


def calls(work: Callable[[], object]) -> int:
    """How many functions ``work`` calls: a cost that does not depend on the machine."""
    count = 0

    def tick(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("what", ["validate", "place"])
def test_cost_grows_with_the_number_of_states(what: str) -> None:
    def cost(states: int) -> int:
        definition = chain(states)
        if what == "validate":
            return calls(lambda: validate(definition))
        text = json.dumps(definition)
        problems = validate(definition)
        return calls(lambda: place(problems, text))

    cost(8)  # what is made once is made
    # Four times the states: four times the cost, and a little for suggestions; not sixteen times.
    assert cost(400) < 6 * cost(100)
