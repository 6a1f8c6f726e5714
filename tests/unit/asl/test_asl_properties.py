"""What holds for any definition: it prints, runs to an end and is refused with reasons only."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from asl_builders import machine_of, run
from campaigns import LANGUAGE, campaign, settled
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from machine_expressions import FITTING, PAYLOADS
from machine_play import is_end, play
from machine_strategy import definitions

from dcf.asl import DefinitionError, dump, parse, validate
from dcf.problem import Problem, has_errors

pytestmark = settled(*LANGUAGE)

INPUTS = st.one_of(FITTING, FITTING, FITTING, PAYLOADS)
SEEDS = st.integers(0, 999)


def quick(examples: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


@campaign(shares=20)
@quick(50)
@given(definitions(), INPUTS, SEEDS)
def test_a_machine_without_errors_ends_and_leaves_what_it_is_given(
    share: int, definition: dict[str, Any], data: Any, seed: int
) -> None:
    assert not has_errors(validate(definition))
    before = copy.deepcopy(definition), copy.deepcopy(data)

    execution = play(definition, data, seed)

    assert is_end(execution), execution
    assert (definition, data) == before
    json.dumps(execution.output, allow_nan=False)
    moments = [entry.at for entry in execution.trace]
    assert moments == sorted(moments)


@quick(40)
@given(definitions(), INPUTS, SEEDS)
def test_one_seed_gives_one_history(definition: dict[str, Any], data: Any, seed: int) -> None:
    assert play(definition, data, seed) == play(definition, data, seed)


@campaign(shares=20)
@quick(30)
@given(definitions(), INPUTS, SEEDS)
def test_a_printed_definition_is_the_same_machine(
    share: int, definition: dict[str, Any], data: Any, seed: int
) -> None:
    printed = dump(definition)
    again = json.loads(printed)

    assert dump(parse(definition)) == printed == dump(parse(again))
    assert not has_errors(validate(again))
    assert play(again, data, seed) == play(definition, data, seed)


JUNK = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, 10**400, 1e308, "", "$", "$.a[", "{% ( %}", "{% $x %}", "S0"),
        *([], {}, [[]], [{}], {"a.$": "$.x"}, {"\x00": None}, "States.Array(", "\ud800"),
        "2030-01-01T00:00:00Z",
    ]
)


@campaign(shares=20)
@quick(75)
@given(definitions(), st.randoms(use_true_random=False), st.integers(1, 5), st.data())
def test_a_damaged_definition_gives_problems_and_nothing_else(
    share: int, definition: dict[str, Any], chance: random.Random, times: int, data: st.DataObject
) -> None:
    definition = copy.deepcopy(definition)
    for _ in range(times):
        damage(definition, chance, data.draw(JUNK))

    problems = validate(definition)

    assert all(isinstance(problem, Problem) and problem.message for problem in problems)
    if has_errors(problems):
        with pytest.raises(DefinitionError):
            parse(definition)
        with pytest.raises(DefinitionError):
            dump(definition)
    else:
        assert is_end(play(definition, {"n": 1, "list": [1]}, 1, max_steps=100))
        assert dump(json.loads(dump(definition))) == dump(definition)


def damage(definition: Any, chance: random.Random, junk: Any) -> None:
    """Drop, rename, retype or swap one member somewhere in ``definition``."""
    holders, waiting = [], [definition]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (dict, list)) and value:
            holders.append(value)
            waiting.extend(value.values() if isinstance(value, dict) else value)
    if not holders:
        return
    holder = chance.choice(holders)
    key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    change = chance.randrange(4)
    if change == 0:
        del holder[key]
    elif change == 1 and isinstance(holder, dict):
        holder[chance.choice([f"{key}Path", str(key).lower(), f"{key}.$", ""])] = holder.pop(key)
    elif change == 2:
        holder[key] = copy.deepcopy(chance.choice(holders))
    else:
        holder[key] = copy.deepcopy(junk)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4) | st.integers() | st.none(), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=8,
)


@quick(100)
@given(ANYTHING)
@example({"StartAt": "S", "States": {"S": {"Type": "Pass", "End": True, "Result": {1: 2}}}})
@example({"StartAt": "S", "States": {"S": {"Type": "Pass", "End": True, "Result": float("nan")}}})
def test_anything_may_be_judged(value: Any) -> None:
    assert has_errors(validate(value))
    with pytest.raises(DefinitionError):
        parse(value)


# Beyond 64 bits JSONata has floating point numbers.
INTEGERS = st.integers(-(2**63), 2**63 - 1)
VALUES = st.integers(0, 9) | st.text("ab", max_size=2) | st.none() | st.lists(INTEGERS, max_size=2)
NAMES = ["a", "b", "c"]


@quick(60)
@given(
    st.fixed_dictionaries(dict.fromkeys(NAMES, VALUES)),
    st.permutations(NAMES),
    st.sampled_from(["JSONPath", "JSONata"]),
)
def test_an_assign_sees_the_values_from_before(
    values: dict[str, Any], order: list[str], language: str
) -> None:
    renamed = dict(zip(NAMES, order, strict=True))
    if language == "JSONPath":
        turned = {f"{name}.$": f"${source}" for name, source in renamed.items()}
        shown: dict[str, Any] = {"Parameters": {f"{name}.$": f"${name}" for name in NAMES}}
    else:
        turned = {name: f"{{% ${source} %}}" for name, source in renamed.items()}
        shown = {"Output": {name: f"{{% ${name} %}}" for name in NAMES}}
    states: dict[str, dict[str, Any]] = {
        "First": {"Type": "Pass", "Assign": values, "Next": "Turn"},
        "Turn": {"Type": "Pass", "QueryLanguage": language, "Assign": turned, "Next": "Show"},
        "Show": {"Type": "Pass", "QueryLanguage": language, **shown, "End": True},
    }

    output = run(machine_of(**states)).output

    assert output == {name: values[source] for name, source in renamed.items()}


@quick(60)
@given(st.sets(st.sampled_from(NAMES)), st.sampled_from(["Map", "Parallel"]), VALUES, st.booleans())
def test_what_an_inner_machine_assigns_ends_with_it(
    assigned: set[str], kind: str, value: Any, caught: bool
) -> None:
    inner = machine_of(
        I={"Type": "Pass", "Assign": dict.fromkeys(assigned | {"own"}, value), "Next": "J"},
        J={"Type": "Fail", "Error": "E"} if caught else {"Type": "Pass", "End": True},
    )
    work: dict[str, Any] = {"Branches": [inner]}
    if kind == "Map":
        work = {"ItemProcessor": inner, "ItemsPath": "$.items"}
    outer = {"Type": kind, **work, "Next": "Show"}
    outer["Catch"] = [{"ErrorEquals": ["States.ALL"], "Next": "Show"}]
    states: dict[str, dict[str, Any]] = {
        "First": {"Type": "Pass", "Assign": dict.fromkeys(NAMES, "outer"), "Next": "Fan"},
        "Fan": outer,
        "Show": {
            "Type": "Pass",
            "QueryLanguage": "JSONata",
            "Output": {"seen": "{% [$a, $b, $c] %}", "own": "{% $exists($own) %}"},
            "End": True,
        },
    }

    output = run(machine_of(**states), {"items": [1, 2]}).output

    assert output == {"seen": ["outer"] * 3, "own": False}
